package postgres
import ("testing";"time";"github.com/signalcast/signalcast/services/api/internal/feed")
func TestZZScale(t *testing.T){
	b := setup(t)
	for d := range 30 { if err := b.KeepFeed(t.Context(), noon.Add(time.Duration(d-30)*24*time.Hour), 90); err != nil { t.Fatal(err)} }
	b.exec(`INSERT INTO api.users (id, issuer, provider_id, public_id, handle, display_name, created_at)
		SELECT ('018f0000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'seed', 'seed' || i, 'op_' || lpad(to_hex(i), 16, '0'), 'seed' || i, 'Seed', $1
		FROM generate_series(1, 1000) i`, noon)
	b.exec(`INSERT INTO api.protocol_events (seq,id,type,at,market_id,provider,lane,user_id,data)
	 SELECT i, gen_random_uuid(), (ARRAY['signal.created','signal.created','signal.event','signal.resolved'])[1+i%4], $1::timestamptz - interval '30 days' + i * interval '2.5 seconds', (i%5000)::text, CASE WHEN i%100000=7 THEN 'kalshi' ELSE 'polymarket' END, CASE WHEN i < 1000 THEN 'MUSIC' ELSE (ARRAY['SCIENCE','SPORT','OTHER'])[1+i%3] END,
	 ('018f0000-0000-7000-8000-' || lpad(to_hex(1+i%1000), 12, '0'))::uuid, '{"a": 1, "b": "some text of a feed item that is about so long as it is in practice"}' FROM generate_series(1,1000000) i`, noon)
	b.exec(`INSERT INTO api.protocol_events (seq,id,type,at,market_id,data) SELECT 1000000+i, gen_random_uuid(), 'market.resolved', $1, i::text, '{}' FROM generate_series(1,20) i`, noon)
	b.exec(`UPDATE api.feed_head SET seq = 1000020`)
	b.exec(`ANALYZE api.protocol_events`)
	for _, generic := range []string{"auto","force_generic_plan"} {
	b.exec(`ALTER ROLE api_rw SET plan_cache_mode = `+generic)
	b.rw.Reset()
	run := func(name string, do func() (any, error)) { for k := range 3 { at := time.Now(); v, err := do(); if k != 1 { t.Log(generic, name, time.Since(at), v, err) } } }
	run("after", func() (any, error) { e, err := b.ListFeedAfter(t.Context(), 500000, 500); return len(e), err })
	for _, c := range []feed.Channel{feed.Signals, feed.Resolutions, "market:77", "operator:seed5", "signals:lane:SPORT", "signals:lane:MUSIC", "signals:lane:TECH"} {
		run("head "+string(c), func() (any, error) { e, err := b.FeedHeads(t.Context(), 1000020, []feed.Channel{c}); return e, err })
		run("page "+string(c), func() (any, error) { e, th, err := b.ListFeedChannel(t.Context(), c, 1000, 1000020, 200); return []int64{int64(len(e)),th}, err })
	}
	var ms []feed.Channel; for i := range 200 { ms = append(ms, feed.MarketChannel(string(rune('1'+i%9))+"00")) }
	run("200 heads", func() (any, error) { e, err := b.FeedHeads(t.Context(), 1000020, ms); return len(e), err })
	for _, q := range []feed.Query{{}, {Lane:"SPORT"}, {Lane:"MUSIC"}, {Providers: []string{"kalshi"}}, {Handle:"seed5"}, {Handle:"seed5", Types: []feed.Type{"market.status"}}, {Types: []feed.Type{"market.resolved","market.status"}}, {Types: []feed.Type{"signal.created","signal.event"}}, {Forward:true}, {Forward:true,From:900000,Lane:"MUSIC"}, {From: 500000}} {
		q.Limit = 50
		run("list", func() (any, error) { p, err := b.ListFeedEvents(t.Context(), q); return []any{q, len(p.Events), p.Next, p.More}, err })
	}
	}
}
