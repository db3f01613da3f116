package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

func person(n int) operator.ID {
	return operator.ID(fmt.Sprintf("0199f0a0-0000-7000-8000-%012d", n))
}

func operatorOf(n int) operator.Operator {
	return operator.Operator{ID: person(n), Handle: protocol.Handle(fmt.Sprintf("op_%d", n))}
}

func TestFollows(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	follows := func(a, b int) {
		t.Helper()
		if err := store.Follow(t.Context(), operatorOf(a), operatorOf(b), noon); err != nil {
			t.Fatal(err)
		}
	}
	counts := func(viewer, of int, want follow.Counts) {
		t.Helper()
		id := person(viewer)
		if viewer == 0 {
			id = ""
		}
		if got, err := store.FollowCounts(t.Context(), id, person(of)); err != nil || got != want {
			t.Errorf("counts of %[2]d for viewer %[1]d: %+v %v, want %+v", viewer, of, got, err, want)
		}
	}
	follows(1, 2)
	follows(1, 2)
	follows(3, 2)
	follows(1, 3)
	follows(2, 1)
	counts(1, 2, follow.Counts{Followers: 2, Following: 2, IsFollowing: true})
	counts(0, 2, follow.Counts{Followers: 2})
	counts(2, 3, follow.Counts{Followers: 1, Following: 1})
	counts(9, 8, follow.Counts{})
	for range 2 {
		if err := store.Unfollow(t.Context(), person(1), person(2), noon); err != nil {
			t.Fatal(err)
		}
		counts(1, 2, follow.Counts{Followers: 1, Following: 1})
	}
	if err := store.Follow(t.Context(), operatorOf(1), operatorOf(1), noon); err == nil {
		t.Error("an operator follows itself")
	}
	for of, want := range map[int]follow.Totals{1: {Followers: 1, Following: 1}, 2: {Followers: 1, Following: 1}, 3: {Followers: 1, Following: 1}, 9: {}} {
		if got, err := store.FollowTotals(t.Context(), person(of)); err != nil || got != want {
			t.Errorf("totals of %d: %+v %v", of, got, err)
		}
	}
	many, err := store.Followers(t.Context(), []operator.ID{person(1), person(3), person(9)})
	if err != nil || len(many) != 2 || many[person(1)] != 1 || many[person(3)] != 1 {
		t.Errorf("followers of many: %v %v", many, err)
	}
	if err := store.Unfollow(t.Context(), person(1), person(3), noon); err != nil {
		t.Fatal(err)
	}
	if many, err = store.Followers(t.Context(), []operator.ID{person(3)}); err != nil || len(many) != 0 {
		t.Errorf("followers of an empty list: %v %v", many, err)
	}
}

// TestFollowsAtOnce checks that operators who concurrently follow and unfollow each other cause no deadlock. The totals must be
// correct afterwards.
func TestFollowsAtOnce(t *testing.T) {
	t.Parallel()
	store, db := open(t)
	const people = 6
	var group sync.WaitGroup
	for a := range people {
		for b := range people {
			if a == b {
				continue
			}
			for copies := range 2 { // the same request twice, concurrently
				group.Go(func() {
					for round := range 6 {
						err := store.Follow(t.Context(), operatorOf(a), operatorOf(b), noon)
						if (a+b+round+copies)%3 == 0 {
							err = errors.Join(err, store.Unfollow(t.Context(), person(a), person(b), noon))
						}
						tolerate(t, err)
					}
				})
			}
		}
	}
	group.Wait()
	var wrong, rows int
	err := testkit.Pool(t, db.Admin).QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE
		t.followers <> (SELECT count(*) FROM hub.follows WHERE followed = t.user_id) OR
		t.following <> (SELECT count(*) FROM hub.follows WHERE follower = t.user_id)), count(*) FROM hub.follow_totals t`).Scan(&wrong, &rows)
	if err != nil || wrong != 0 || rows != people {
		t.Errorf("%d of %d totals are wrong: %v", wrong, rows, err)
	}
}

// tolerate ignores a timeout, which a busy test machine can cause. It fails the test for any other error, including a deadlock.
func tolerate(t *testing.T, err error) {
	t.Helper()
	if err != nil && (!errors.Is(err, pg.ErrUnavailable) || strings.Contains(err.Error(), "deadlock")) {
		t.Error(err)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	keep := func(owner int, station, identity string) {
		t.Helper()
		if err := store.StoreClaim(t.Context(), person(owner), identityclaim.Claim{Station: station, Identity: identity, VerifiedAt: noon}); err != nil {
			t.Fatal(err)
		}
	}
	list := func(owner int) string {
		t.Helper()
		got, err := store.ListClaims(t.Context(), person(owner))
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, c := range got {
			out += c.Station + "=" + c.Identity[:3] + " "
			if !c.VerifiedAt.Equal(noon) {
				t.Errorf("%+v", c)
			}
		}
		return out
	}
	const a, b = "0xAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaA", "0xBbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbB"
	keep(1, "partner", a)
	keep(1, "another", a)
	if got := list(1); got != "another=0xA partner=0xA " {
		t.Error(got)
	}
	keep(1, "partner", b) // replaces the earlier claim
	keep(2, "partner", b) // the last claim of a wallet wins
	if list(1) != "another=0xA " || list(2) != "partner=0xB " {
		t.Error(list(1), list(2))
	}
	for i, want := range []bool{true, false} {
		if removed, err := store.DropClaim(t.Context(), person(2), "partner"); err != nil || removed != want {
			t.Errorf("removal %d: %v %v", i, removed, err)
		}
	}
	if err := store.StoreClaim(t.Context(), person(1), identityclaim.Claim{Station: "partner", Identity: "short", VerifiedAt: noon}); err == nil {
		t.Error("an invalid identity was stored")
	}
}

// TestClaimsCrosswise checks that after concurrent claims of the same wallets each operator has at most one claim and
// each wallet at most one owner.
func TestClaimsCrosswise(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	var group sync.WaitGroup
	for owner := range 4 {
		group.Go(func() {
			for round := range 10 {
				identity := fmt.Sprintf("0x%040d", (owner+round)%3)
				err := store.StoreClaim(t.Context(), person(owner), identityclaim.Claim{Station: "partner", Identity: identity, VerifiedAt: noon})
				tolerate(t, err)
			}
		})
	}
	group.Wait()
	wallets := map[string]bool{}
	for owner := range 4 {
		got, err := store.ListClaims(t.Context(), person(owner))
		if err != nil || len(got) > 1 {
			t.Fatal(got, err)
		}
		for _, c := range got {
			if wallets[c.Identity] {
				t.Errorf("wallet %s has two owners", c.Identity)
			}
			wallets[c.Identity] = true
		}
	}
	if len(wallets) == 0 {
		t.Error("no wallet has an owner")
	}
}
