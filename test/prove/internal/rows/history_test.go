package rows

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// A history in which a read misses a call that was taken before is no ledger.
func TestStaleReadIsFound(t *testing.T) {
	t.Parallel()
	p := pair{"m", "anna"}
	history := func(read string) []porcupine.Operation {
		return []porcupine.Operation{
			{Input: step{p, true}, Output: heard{"one", true}, Call: 0, Return: 10},
			{Input: step{p, true}, Output: heard{"one", false}, Call: 5, Return: 20},
			{Input: step{pair: p}, Output: heard{id: read}, Call: 11, Return: 30},
		}
	}
	for read, fits := range map[string]bool{"one": true, "": false, "two": false} {
		if porcupine.CheckOperations(firstCallLocks, history(read)) != fits {
			t.Errorf("a read of %q fits: %v", read, !fits)
		}
	}
}

// What was never sent is no doubt; what had no answer is one.
func TestNoteOfACrash(t *testing.T) {
	t.Parallel()
	c := crash{seen: frame.NewSeen()}
	for _, a := range []client.Answer{
		{Err: fmt.Errorf("dial: %w", syscall.ECONNREFUSED)},
		{Err: errors.New("unexpected EOF")},
		{Status: 503},
		{Status: 200, Body: []byte(`{"ok":true,"id":"one"}`)},
	} {
		c.note(frame.Write{}, a)
	}
	if c.refused != 1 || len(c.doubt) != 2 || len(c.acked) != 1 || c.acked[0].ID != "one" || !c.seen.OK() {
		t.Fatalf("%d refused, %d in doubt, %d taken", c.refused, len(c.doubt), len(c.acked))
	}
	if c.note(frame.Write{}, client.Answer{Status: 404}); c.seen.OK() {
		t.Error("a strange answer was taken for a good one")
	}
}

// A call holds its write only with its side and price.
func TestHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    stored
		w    frame.Write
		want bool
	}{
		{stored{yes: true, price: 3000}, frame.Write{Yes: true, Price: 3000}, true},
		{stored{yes: true, price: 7000}, frame.Write{Yes: true, Price: 3000}, false},
		{stored{yes: false, price: 7000}, frame.Write{Yes: false, Price: 3000}, true},
		{stored{yes: false, price: 3000}, frame.Write{Yes: true, Price: 3000}, false},
	} {
		if c.s.holds(c.w) != c.want {
			t.Errorf("%+v", c)
		}
	}
}
