package edge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	boardv1 "github.com/signalcast/signalcast/proto/board/v1"

	"github.com/signalcast/signalcast/services/hub/internal/memledger"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// followed makes n strangers follow an operator.
func (b *bench) followed(n int, id string) {
	b.t.Helper()
	for i := range n {
		stranger := operator.Operator{ID: operator.ID(fmt.Sprintf("0199f0a0-0000-7000-8000-%012d", i))}
		if err := b.people.Follow(b.t.Context(), stranger, operator.Operator{ID: operator.ID(id)}, b.clock.Now()); err != nil {
			b.t.Fatal(err)
		}
	}
}

// TestFollowersOnTheBoard: the ledger ranks, this host knows who is followed, and a
// board that has to do without it is shown and kept by nobody.
func TestFollowersOnTheBoard(t *testing.T) {
	t.Parallel()
	const path = "/api/operator/leaderboard"
	b := setup(t)
	other := b.ledger.AddOperator("tidewatch")
	b.ledger.Lock()
	b.ledger.Board = []*boardv1.Row{{Rank: 1, Operator: other}, {Rank: 2, Operator: b.mara}}
	b.ledger.Unlock()
	followers := func() string {
		b.clock.Advance(time.Minute) // a page of before is too old
		w := b.send("GET", path, "")
		var shown struct {
			Leaderboard []struct{ Followers int }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintln(w.Code, shown.Leaderboard, w.Header().Get("X-Degraded"))
	}
	b.followed(3, b.mara.GetId())
	if got := followers(); got != "200 [{0} {3}] \n" {
		t.Errorf("three followers: %s", got)
	}
	b.people.mu.Lock()
	b.people.fail = memledger.ErrDB
	b.people.mu.Unlock()
	if got := followers(); got != "200 [{0} {0}] follows\n" {
		t.Errorf("nobody can tell: %s", got)
	}
	if w := b.send("GET", path, ""); w.Header().Get("Cache-Control") != "no-store" || !strings.Contains(w.Body.String(), "tidewatch") {
		t.Errorf("headers %v of %s", w.Header(), w.Body)
	}
	b.people.mu.Lock()
	b.people.fail = nil
	b.people.mu.Unlock()
	b.followed(4, b.mara.GetId())
	if got := followers(); got != "200 [{0} {4}] \n" {
		t.Errorf("four followers: %s", got)
	}
}
