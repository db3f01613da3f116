package rows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/feedclient"
)

// e4 holds one commit in twenty for a while, so that what was written later is committed
// before it, and compares what readers were told with the record.
var e4 = frame.Row{
	ID: "E4", Title: "no event is lost when commits overtake one another",
	Fault: frame.Fault{What: "the feed is read behind the last number that a writer took in its transaction", SQL: numberedAtWriting},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		const writers = 20
		each := env.Of(12, 250, 2000)
		s, err := newScribes(ctx, env, "e4", writers*each)
		if err != nil {
			return nil, err
		}
		if _, err := env.DB.Exec(ctx, holdCommits); err != nil {
			return nil, err
		}
		defer func() { _, _ = env.DB.Exec(context.WithoutCancel(ctx), letCommits) }() // the next row would only be slower
		var head int64
		if err := env.DB.QueryRow(ctx, "SELECT seq FROM api.feed_head").Scan(&head); err != nil {
			return nil, err
		}
		a := overtaken(ctx, env, head, s)
		defer a.close()
		s.write(ctx, writers, each)
		if err := settled(ctx, env, seen, time.Duration(env.Of(2, 20, 60))*time.Second); err != nil {
			return nil, err
		}
		full, err := readFull(ctx, env, head)
		if err != nil {
			return nil, err
		}
		late, err := a.arrived(ctx, full, time.Duration(env.Of(3, 20, 60))*time.Second)
		if err != nil {
			return nil, err
		}
		seen.Check(late == 0, "%d channels of readers have not come to their end", late)
		all := a.judge(seen, full)
		off, lost, err := s.unfed(ctx)
		if err != nil {
			return nil, err
		}
		seen.Check(off == 0, "%d facts on record are not in the feed, or twice", off)
		seen.Check(lost == 0, "%d acknowledged facts are not on record", lost)
		seen.Check(full.broken(head) == 0, "%d numbers do not follow each other", full.broken(head))
		var held, over int
		if err := env.DB.QueryRow(ctx, countOvertaken).Scan(&held, &over); err != nil {
			return nil, err
		}
		if over == 0 && seen.OK() { // what is lost has overtaken nothing
			return nil, errors.New("no commit was overtaken")
		}
		seen.Figure("commitsHeld", held)
		seen.Figure("overtaken", over)
		seen.Promise("missing 0", fmt.Sprintf("missing %s", frame.Number(all.missing+off)))
		seen.Volume("%s facts of %d writers, %d commits held, %d numbered behind later ones, %d readers, %s deliveries",
			frame.Number(int(s.wrote.Load())), writers, held, over, len(a), frame.Number(all.want))
		return seen, nil
	},
}

// overtaken are readers of each kind, at the ledger itself.
func overtaken(ctx context.Context, env *frame.Env, head int64, s *scribes) (a audience) {
	open := func(kind feedclient.Kind, channels ...string) {
		o := feedclient.Options{Kind: kind, URL: env.Stack.API, From: fmt.Sprintf("127.44.0.%d", len(a)+1), Direct: true, Channels: map[string]int64{}}
		for _, c := range channels {
			o.Channels[c] = head
		}
		a = append(a, feedclient.Open(ctx, o))
	}
	for i := range env.Of(1, 4, 10) {
		open(feedclient.Loyal, "signals", "market:"+s.markets[i%onMarkets])
		open(feedclient.Loyal, "signals:lane:SCIENCE", "operator:"+s.ops[i%len(s.ops)].Handle)
		open(feedclient.Stream, "signals", "signals:lane:MUSIC")
		open(feedclient.Poll, feedclient.Everything)
	}
	return a
}

// holdCommits lets one transaction in twenty that has something for the feed wait at its
// very end, when all its numbers are taken and nobody sees it yet. What number each fact
// took is kept, to see which were overtaken.
const holdCommits = `
CREATE TABLE api.e4_taken (id bigint PRIMARY KEY, signal_id uuid, event_id uuid, held boolean NOT NULL);
CREATE FUNCTION api.e4_hold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp AS $$
DECLARE hold boolean := random() < 0.05;
BEGIN
    INSERT INTO e4_taken VALUES (NEW.id, NEW.signal_id, NEW.event_id, hold);
    IF hold THEN PERFORM pg_sleep(0.05); END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER e4_hold AFTER INSERT ON api.outbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION api.e4_hold();`

const letCommits = `DROP TRIGGER e4_hold ON api.outbox; DROP FUNCTION api.e4_hold(); DROP TABLE api.e4_taken`

// countOvertaken counts the commits that were held, and the facts that have their place
// in the feed behind one that was written later.
const countOvertaken = `
SELECT (SELECT count(*) FROM api.e4_taken WHERE held), count(*) FILTER (WHERE id < before) FROM (
    SELECT t.id, max(t.id) OVER (ORDER BY e.seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM api.e4_taken t JOIN api.protocol_events e ON e.signal_id = t.signal_id
        AND (t.event_id IS NULL AND e.type = 'signal.created' OR t.event_id::text = e.data->'event'->>'id')) o`

// numberedAtWriting is what a feed does that goes by an identity column, "give me what is
// behind the last number that I saw": a row that commits later with a smaller number is
// not looked at any more.
const numberedAtWriting = `
CREATE TABLE api.e4_seen (last bigint NOT NULL);
INSERT INTO api.e4_seen VALUES (0);
GRANT SELECT ON api.e4_seen TO api_rw;
CREATE FUNCTION api.e4_see() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = api, pg_temp AS $$
BEGIN
    UPDATE e4_seen SET last = greatest(last, (SELECT max(id) FROM gone));
    RETURN NULL;
END $$;
CREATE TRIGGER e4_see AFTER DELETE ON api.outbox REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION api.e4_see();
ALTER TABLE api.outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY e4_write ON api.outbox FOR INSERT TO api_rw WITH CHECK (true);
CREATE POLICY e4_read ON api.outbox FOR SELECT TO api_rw USING (id > (SELECT last FROM api.e4_seen));
CREATE POLICY e4_take ON api.outbox FOR DELETE TO api_rw USING (id > (SELECT last FROM api.e4_seen));`
