package manifold_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/simtest"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

func TestNewBetsAreBroadcast(t *testing.T) {
	t.Parallel()
	b := setup()
	id := b.Create(t, world.Draft{Price: 400_000})
	session := b.venue.Stream()
	plain := func(frames []any) (out []any) {
		t.Helper()
		raw, err := json.Marshal(frames)
		if err != nil || json.Unmarshal(raw, &out) != nil {
			t.Fatal(err)
		}
		return out
	}
	topic := "contract/" + b.contract(t, id) + "/new-bet"
	for i, c := range []struct {
		message string
		ok      bool
	}{
		{fmt.Sprintf(`{"type":"subscribe","txid":1,"topics":[%q,"contract/nobody/new-bet","odd"]}`, topic), true},
		{`{"type":"ping","txid":2}`, true},
		{`{"type":"dance","txid":3}`, false},
	} {
		got := plain(session.Take([]byte(c.message)))
		simtest.SameForm(t, "ws_server_ack", got[0])
		if a := got[0].(map[string]any); a["txid"] != float64(i+1) || a["success"] != c.ok {
			t.Errorf("%s: %v", c.message, a)
		}
	}
	if got := session.Beat(); len(got) != 0 {
		t.Errorf("before any bet: %v", got)
	}
	for i := range world.Micros(20) { // none of them is a redemption or an order that nobody took
		p := 420_000 + 10_000*i
		b.Pass(time.Second)
		b.Change(t, id, world.Change{Price: &p})
		got := plain(session.Beat())
		if len(got) != 1 {
			t.Fatalf("%d frames", len(got))
		}
		simtest.SameForm(t, "ws_server_new_bet", got[0])
		if simtest.At(got[0], "topic") != topic || simtest.At(got[0], "data", "bets", "probAfter") != p.Float() || simtest.At(got[0], "data", "bets", "isFilled") != true {
			t.Errorf("%v", got[0])
		}
	}
	session.Take([]byte(fmt.Sprintf(`{"type":"unsubscribe","txid":4,"topics":[%q]}`, topic)))
	p := world.Micros(100_000)
	b.Change(t, id, world.Change{Price: &p})
	if got := session.Beat(); len(got) != 0 || len(session.Follows()) != 0 {
		t.Errorf("after leaving: %v", got)
	}
}
