package postgres

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

// TestChangesOfHandles checks the choice of the first handle and the changes after it: their limits, that a former handle leads
// to its operator and is given to no other one for 400 days, and that the operator can take it back.
func TestChangesOfHandles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	signIn := func(subject, username string) operator.Operator {
		t.Helper()
		id := operator.Identity{Issuer: "https://idp.example", Subject: subject, Primary: true, Username: username}
		o, _, err := s.SignIn(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	mara := signIn("mara", "mara")
	change := func(id, handle string, first bool, want error) {
		t.Helper()
		if err := s.ChangeHandle(t.Context(), id, handle, first); !errors.Is(err, want) {
			t.Errorf("handle %q, first %t: %v, want %v", handle, first, err, want)
		}
	}
	leads := func(handle, id, now string) {
		t.Helper()
		switch o, err := s.Operator(t.Context(), handle, ""); {
		case id == "" && errors.Is(err, operator.ErrNotFound):
		case err != nil || o.ID != id || o.Handle != now:
			t.Errorf("%s leads to %s (%s), %v; want %s (%s)", handle, o.Handle, o.ID, err, now, id)
		}
	}
	other := signIn("other", "tidewatch")
	for handle, want := range map[string]error{
		"": protocol.ErrHandle, "a": protocol.ErrHandle, "mära": protocol.ErrHandle, "deleted-op_123456789": protocol.ErrHandle,
		"admin": operator.ErrHandleTaken, "deleted_op": operator.ErrHandleTaken, "TideWatch": operator.ErrHandleTaken,
	} {
		change(mara.ID, handle, false, want)
	}
	change(mara.ID, "Mara_K", true, nil)
	change(mara.ID, "mara_l", true, operator.ErrHandleChosen)
	leads("mara", mara.ID, "mara_k")
	change(other.ID, "", true, nil)
	change(other.ID, "mara", false, operator.ErrHandleTaken)
	if o := signIn("new", "mara"); o.Handle != "mara_2" {
		t.Errorf("a new operator got the handle %s, want mara_2", o.Handle)
	}
	late := signIn("late", "late")
	b.clock.Advance(protocol.HandleChoice + time.Second)
	change(late.ID, "later", true, operator.ErrHandleChosen)

	change(mara.ID, "river", false, nil)
	changed := b.clock.Now()
	change(mara.ID, "river", false, nil) // no change
	b.clock.Advance(protocol.HandlePeriod - time.Second)
	err := s.ChangeHandle(t.Context(), mara.ID, "sea", false)
	next := protocol.Stamp(changed.Add(protocol.HandlePeriod))
	if f := apperr.Of(err); !errors.Is(err, operator.ErrHandleChanged) || f.Extra["possibleAt"] != next {
		t.Errorf("second change: %v", err)
	}
	b.clock.Advance(time.Second)
	change(mara.ID, "mara_k", false, nil) // its own former handle
	leads("river", mara.ID, "mara_k")
	leads("mara_k", mara.ID, "mara_k")
	change(other.ID, "river", false, operator.ErrHandleTaken)

	b.clock.Set(changed.Add(operator.FormerHandlePeriod))
	if err := b.SweepKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	leads("mara", "", "")
	leads("river", mara.ID, "mara_k")
	change(other.ID, "mara", false, nil)
	if _, err := s.Operator(t.Context(), "", mara.ID); err != nil {
		t.Error(err)
	}
	for _, err := range []error{
		b.CloseAccount(t.Context(), mara.ID, false, b.clock.Now()), b.EraseAccount(t.Context(), mara.ID, b.clock.Now()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	change(mara.ID, "mara_z", false, operator.ErrNotFound)
	leads("river", "", "")
	change(late.ID, "river", false, nil)
}

// TestOneHandle checks that of concurrent changes to one handle, one is stored, and that a handle that is being released is taken
// by neither a change nor a new operator.
func TestOneHandle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	owner, _ := b.operator("mara")
	ids := make([]string, 12)
	for i := range ids {
		ids[i], _ = b.operator(fmt.Sprintf("op_%d", i))
	}
	taken := func(handle string, extra func()) int {
		won := make([]bool, len(ids))
		var wg sync.WaitGroup
		wg.Go(extra)
		for i, id := range ids {
			wg.Go(func() {
				err := s.ChangeHandle(t.Context(), id, handle, false)
				if won[i] = err == nil; err != nil && !errors.Is(err, operator.ErrHandleTaken) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		n := 0
		for _, w := range won {
			if w {
				n++
			}
		}
		return n
	}
	if n := taken("river", func() {}); n != 1 {
		t.Errorf("%d operators got one handle", n)
	}
	b.clock.Advance(protocol.HandlePeriod)
	if n := taken("mara", func() {
		if err := s.ChangeHandle(t.Context(), owner, "mara_k", false); err != nil {
			t.Error(err)
		}
		id := operator.Identity{Issuer: "https://idp.example", Subject: "new", Username: "mara"}
		if o, _, err := s.SignIn(t.Context(), id); err != nil || o.Handle != "mara_2" {
			t.Errorf("new operator %s, %v; want mara_2", o.Handle, err)
		}
	}); n != 0 {
		t.Errorf("%d operators got a former handle", n)
	}
}

// TestReadsAfterAChangeOfHandle checks that calls, the feed, webhooks, streams and a hidden profile follow a change of the
// handle, and that reads with the former handle answer as with the present one.
func TestReadsAfterAChangeOfHandle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, key := b.operator("mara")
	b.venueMarket("1000", 4000)
	call := b.file(key, "1000", protocol.Yes, 4100)
	b.number()
	b.exec(`INSERT INTO api.webhooks (id, user_id, url, channels, types, created_at, taken, secret)
		VALUES (gen_random_uuid(), $1, 'https://hooks.example', '{me:mara,signals,operator:mara,overlay:mara}', '{}', now(), 0,
			'\x00')`, id)
	b.exec(`INSERT INTO api.market_live (market_id, handle, bound, at) VALUES ('1000', 'mara', true, now())`)
	b.exec(`SELECT api.moderate('profile', 'mara', true, 'spam', 'admin', now())`)
	if err := b.ChangeHandle(t.Context(), id, "mara_k", false, b.clock.Now()); err != nil {
		t.Fatal(err)
	}
	for _, handle := range []string{"mara", "mara_k"} {
		for name, q := range map[string]signal.CallQuery{
			"calls": {}, "own calls": {Own: true}, "calls on a market": {MarketID: "1000"},
		} {
			q.Handle, q.Limit = handle, 10
			p := must(b.ListCalls(t.Context(), q))(t)
			if len(p.Signals) != 1 || p.Signals[0].ID != call || p.Signals[0].Handle != "mara_k" {
				t.Errorf("%s of %s: %+v", name, handle, p.Signals)
			}
		}
		p := must(b.ListFeedEvents(t.Context(), feed.Query{Handle: handle, Limit: 10}))(t)
		if len(p.Events) == 0 || p.Events[0].Handle != "mara_k" {
			t.Errorf("feed of %s: %+v", handle, p.Events)
		}
	}
	var channels []string
	var stream, name string
	row := b.admin.QueryRow(t.Context(), `SELECT w.channels, l.handle, u.display_name
		FROM api.webhooks w, api.market_live l, api.users u WHERE u.id = $1`, id)
	if err := row.Scan(&channels, &stream, &name); err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff([]string{"me:mara_k", "signals", "operator:mara_k", "overlay:mara_k"}, channels)
	if diff != "" || stream != "mara_k" || name != "mara_k" {
		t.Errorf("stream of %s, name %s, channels (-want +got):\n%s", stream, name, diff)
	}
	b.exec(`SELECT api.moderate('profile', 'mara_k', false, '', 'admin', now())`)
	if n := b.count(`SELECT count(*) FROM api.users WHERE display_name <> 'mara_k' AND handle = 'mara_k'`); n != 1 {
		t.Error("the name of the restored profile is missing")
	}
}
