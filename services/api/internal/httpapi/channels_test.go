package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// TestSnapshots checks that a subscription to a channel with a state begins with a snapshot. It must contain the state that was
// published last, or an empty state.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 8})
	b.key("tide") // a copy of an unknown operator is not stored
	published := feed.Copy{Channel: feed.OverlayChannel("tide"), At: time.Now(), Data: []byte(`{"marketId":"701122","name":"Flood"}`)}
	if err := b.store.StoreFacts(t.Context(), nil, []feed.Copy{published}); err != nil {
		t.Fatal(err)
	}
	c := b.socket()
	for channel, data := range map[string]any{
		"operator:mara":     map[string]any{"live": false, "showId": nil, "signal": nil, "approved": false},
		"overlay:mara":      map[string]any{"marketId": nil},
		"overlay:tide":      map[string]any{"marketId": "701122", "name": "Flood"},
		"live":              map[string]any{"live": []any{}, "recent": []any{}},
		"wire":              map[string]any{"items": []any{}},
		"program:hot":       map[string]any{"now": nil, "next": nil},
		"program:hot:WORLD": map[string]any{"now": nil, "next": nil},
		"pulse": map[string]any{
			"signals": 0.0, "independentSignals": 0.0, "houseSignals": 0.0, "automatedSignals": 0.0, "last7": 0.0, "prev7": 0.0,
			"independentOperators": 0.0, "independentActive28": 0.0, "houseOperators": 0.0, "registered": 1.0, "markets": 0.0,
			"resolved": 0.0, "won": 0.0, "lost": 0.0, "open": 0.0, "clvCount": 0.0, "beatLine": 0.0,
		},
	} {
		c.send(`{"op":"subscribe","id":"s","channels":["` + channel + `"]}`)
		c.want(
			frame{"op": "ack", "id": "s", "channels": []any{channel}},
			frame{"op": "snapshot", "channel": channel, "seq": 0.0, "data": data},
		)
	}
}

// TestMe checks that channel me requires a key and has only events of the operator of the key. The subscription must end when
// the key is replaced or revoked.
func TestMe(t *testing.T) {
	t.Parallel()
	b := setup(t, options{memory: 8})
	b.market("1", "SCIENCE")
	key, other := b.key("mara"), b.key("tide")
	c, _, err := b.dial("127.0.0.1", http.Header{"Authorization": {"Bearer " + key}})
	if err != nil {
		t.Fatal(err)
	}
	c.next() // hello
	c.send(`{"op":"subscribe","id":"s","channels":["me"]}`)
	snapshot := frame{"op": "snapshot", "channel": "me", "seq": 0.0, "data": map[string]any{"handle": "mara", "permissions": []any{"read", "signal", "broadcast"}}}
	c.want(frame{"op": "ack", "id": "s", "channels": []any{"me"}}, snapshot)
	for _, of := range []string{"tide", "mara"} {
		b.exec(`INSERT INTO api.outbox (type, market_id, user_id, data, at) SELECT 'clip.ready', '1', id, jsonb_build_object('id', handle), now() FROM api.users WHERE handle = $1`, of)
	}
	b.fact("market.status", "1", 1)
	b.head(3)
	c.want(frame{"op": "event", "channel": "me", "seq": 2.0, "prev": nil, "type": "clip.ready", "data": map[string]any{"id": "mara"}})
	b.broker.Publish(feed.Ephemeral{Channel: feed.MeChannel("tide"), Type: feed.FollowCreated, At: time.Now(), Data: []byte(`{"handle":"x"}`)})
	b.broker.Publish(feed.Ephemeral{Channel: feed.MeChannel("mara"), Type: feed.FollowCreated, At: time.Now(), Data: []byte(`{"handle":"tide"}`)})
	c.want(frame{"op": "event", "channel": "me", "type": "follow.created", "data": map[string]any{"handle": "tide"}})

	// The key of another operator replaces the holder of the socket and ends the subscription to the previous operator's
	// channel.
	c.send(`{"op":"auth","id":"a","token":"` + other + `"}`)
	c.want(frame{"op": "ack", "id": "a", "channels": []any{}}, frame{
		"op": "error", "id": "a", "error": "unauthenticated", "channel": "me",
		"message": "this channel belonged to the previous key and has ended; subscribe again for the new key",
	})
	b.broker.Publish(feed.Ephemeral{Channel: feed.MeChannel("mara"), Type: feed.FollowCreated, At: time.Now(), Data: []byte(`{}`)})
	c.send(`{"op":"subscribe","id":"s2","channels":["me"],"since":{"me":0}}`)
	c.want(
		frame{"op": "ack", "id": "s2", "channels": []any{"me"}},
		frame{"op": "snapshot", "channel": "me", "seq": 3.0, "data": map[string]any{"handle": "tide", "permissions": []any{"read", "signal", "broadcast"}}},
		frame{"op": "event", "channel": "me", "seq": 1.0, "prev": nil, "type": "clip.ready", "data": map[string]any{"id": "tide"}},
	)
	b.exec(`UPDATE api.operator_keys SET revoked_at = now() WHERE hash = $1`, operator.Hash(other))
	b.server.Revoked("tide")
	if code := c.ends(); code != 4001 {
		t.Errorf("closed with %d, want 4001", code)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return b.server.Sockets() == 0 })
}
