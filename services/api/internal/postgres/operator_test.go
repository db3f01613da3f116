package postgres

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/signal"
)

const maskSecret = "0123456789abcdef0123456789abcdef"

func (b *bundle) service() *operator.Service {
	return operator.NewService(b.Store, maskSecret, b.clock.Now)
}

func TestSignInTwiceIsOneOperator(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	var wg sync.WaitGroup
	ids := make([]string, 20)
	for i := range ids {
		wg.Go(func() {
			o, _, err := s.SignIn(t.Context(), operator.Identity{Issuer: "https://idp.example", Subject: "did:idp:one", Primary: true, Username: "One Name"})
			if err != nil {
				t.Error(err)
			}
			ids[i] = o.ID + o.Handle
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("one identity created two operators, %s and %s", id, ids[0])
		}
	}
	if n := b.count(`SELECT count(*) FROM api.operator_scores`); n != 1 {
		t.Errorf("%d score rows, want 1", n)
	}
}

// TestFindOperators checks the order and the limit of a search by the beginning of a handle or a display name, and that it reads
// indexes only.
func TestFindOperators(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	for i, o := range []struct{ handle, name string }{
		{"river", "Zoe"}, {"river_two", "Anna"}, {"anna_k", "River Watch"}, {"driver", "Driver"}, {"riv", "Riv"}, {"percent_a", "100% River"},
	} {
		if _, err := b.CreateOperator(t.Context(), operator.Operator{
			ID: fmt.Sprintf("0199f0f0-0000-7000-8000-0000000000%02d", i), Issuer: "https://idp.example", ProviderID: o.handle,
			PublicID: fmt.Sprintf("op_00000000000000%02d", i), Handle: o.handle, DisplayName: o.name, CreatedAt: b.clock.Now(),
		}); err != nil {
			t.Fatal(err)
		}
	}
	b.exec(`UPDATE api.operator_totals SET total = 5 WHERE user_id = '0199f0f0-0000-7000-8000-000000000002'`)
	for text, want := range map[string]string{
		"river": "[river anna_k river_two]", "RIVER": "[river anna_k river_two]", "river w": "[anna_k]", "ri": "[anna_k riv river river_two]",
		"r": "[]", "": "[]", "%": "[]", "zz": "[]", "100%": "[percent_a]",
	} {
		found, err := s.Find(t.Context(), text, 25)
		handles := []string{}
		for _, o := range found {
			handles = append(handles, o.Handle)
		}
		if got := fmt.Sprint(handles); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
	if found, err := s.Find(t.Context(), "ri", 2); err != nil || len(found) != 2 {
		t.Errorf("%d operators, %v; want 2", len(found), err)
	}
}

func TestHandles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	for i, v := range []struct{ username, name, want string }{
		{"Mara K", "", "mara_k"},
		{"mara_k", "", "mara_k_2"},
		{"", "Mara K", "mara_k_3"},
		{"admin", "", "admin_1"},
		{"me", "", "me_1"},
		{"\u00e9\u00e9", "", ""},
		{"", "", ""},
		{"a_very_long_name_that_goes_on_and_on_and_on", "", "a_very_long_name_that_goes_on_an"},
	} {
		o, isNew, err := s.SignIn(t.Context(), operator.Identity{Issuer: "https://idp.example", Subject: fmt.Sprint("h", i), Primary: true, Username: v.username, Name: v.name})
		if err != nil || !isNew {
			t.Fatal(err)
		}
		if v.want != "" && o.Handle != v.want {
			t.Errorf("%q %q: %s, want %s", v.username, v.name, o.Handle, v.want)
		}
		if _, err := protocol.ParseHandle(o.Handle); err != nil {
			t.Errorf("%q is not a valid handle", o.Handle)
		}
	}
}

// TestIdentityIsIssuerAndSubject checks that the same subject at two identity providers gives two operators with two public
// ids.
func TestIdentityIsIssuerAndSubject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	first, _, err1 := s.SignIn(t.Context(), operator.Identity{Issuer: "https://a.example", Subject: "x", Primary: true})
	second, _, err2 := s.SignIn(t.Context(), operator.Identity{Issuer: "https://b.example", Subject: "x"})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if first.ID == second.ID || first.PublicID == second.PublicID || first.PublicID != string(protocol.NewPublicID(maskSecret, "x")) {
		t.Errorf("%+v\n%+v", first, second)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	o, _, err := s.SignIn(t.Context(), operator.Identity{Issuer: "https://idp.example", Subject: "keys", Primary: true})
	if err != nil {
		t.Fatal(err)
	}
	stranger, _, err := s.SignIn(t.Context(), operator.Identity{Issuer: "https://idp.example", Subject: "stranger", Primary: true})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var plain []string
	for range 30 {
		wg.Go(func() {
			p, k, err := s.Mint(t.Context(), o.ID, "bot", operator.PrefixKey, []string{"signal", "read"}, false)
			if errors.Is(err, operator.ErrKeyLimit) {
				return
			}
			if err != nil || len(p) != 46 || p[:3] != "dk_" || k.Last4 != p[42:] || fmt.Sprint(k.Permissions) != "[read signal]" {
				t.Errorf("new key: %q %+v, %v", p, k, err)
			}
			mu.Lock()
			plain = append(plain, p)
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(plain) != operator.MaxKeys {
		t.Fatalf("%d keys, want %d", len(plain), operator.MaxKeys)
	}
	who, k, err := s.Verify(t.Context(), operator.Hash(plain[0]))
	if err != nil || who.ID != o.ID {
		t.Fatalf("verified key: %+v, %v", who, err)
	}
	if _, _, err := s.Revoke(t.Context(), stranger.ID, k.ID); !errors.Is(err, operator.ErrKeyNotFound) {
		t.Errorf("another operator revoked the key: %v", err)
	}
	if gone, _, err := s.Revoke(t.Context(), o.ID, k.ID); err != nil || gone.Active {
		t.Errorf("revoked key: %+v, %v", gone, err)
	}
	if _, _, err := s.Verify(t.Context(), operator.Hash(plain[0])); !errors.Is(err, operator.ErrUnauthenticated) {
		t.Errorf("a revoked key was verified: %v", err)
	}
	if n := b.count(`SELECT count(*) FROM api.operator_keys k WHERE k::text LIKE '%' || $1 || '%'`, plain[1][3:40]); n != 0 {
		t.Error("the plaintext of a key is stored")
	}
	list, err := s.Keys(t.Context(), o.ID)
	if err != nil || len(list) != operator.MaxKeys {
		t.Errorf("%d keys are listed, %v", len(list), err)
	}
}

func TestKeyHashVector(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprintf("%x", operator.Hash("dk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")); got != "bf059144f3f0f782f4ea84903eec10746433ef53da56b1a989763f988b13007b" {
		t.Error(got)
	}
}

// TestClassifyMovesTheCrowd checks that the type of an operator decides whether its calls count as crowd. A change of the
// type also applies to calls filed before.
func TestClassifyMovesTheCrowd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	b.venueMarket("90", 5000)
	_, hash := b.operator("machine")
	b.file(hash, "90", protocol.Yes, 5000)
	crowd := func() int { return b.count(`SELECT crowd_yes FROM api.market_totals WHERE market_id = '90'`) }
	bot, agent := protocol.SystemBot, protocol.AIAgent
	house := true
	if o, err := s.Classify(t.Context(), operator.Class{Handle: "MACHINE", Type: &bot, House: &house, Actor: "admin"}); err != nil || o.Tier != protocol.Automated || crowd() != 0 {
		t.Errorf("%+v, %v, crowd %d", o, err, crowd())
	}
	if o, err := s.Classify(t.Context(), operator.Class{Handle: "machine", Type: &agent, Actor: "admin"}); err != nil || o.Tier != protocol.Automated || crowd() != 1 {
		t.Errorf("%+v, %v, crowd %d", o, err, crowd())
	}
	human := protocol.Human
	if o, err := s.Classify(t.Context(), operator.Class{Handle: "machine", Type: &human, Actor: "admin"}); err != nil || o.Tier != protocol.House {
		t.Errorf("classified operator: %+v, %v", o, err)
	}
	if _, err := s.Classify(t.Context(), operator.Class{Handle: "unknown", Type: &human, Actor: "admin"}); !errors.Is(err, operator.ErrNotFound) {
		t.Error(err)
	}
	list, err := Recount(t.Context(), b.rw)
	if err != nil || len(list) != 0 {
		t.Errorf("recount: %+v, %v", list, err)
	}
	b.exec(`UPDATE api.market_totals SET yes = 7`)
	if list, err = Recount(t.Context(), b.rw); err != nil || len(list) != 1 || list[0].Counter != "market_totals" {
		t.Errorf("a wrong counter was not reported: %+v, %v", list, err)
	}
}

// TestKeyTier checks that the active keys of an operator and its later keys have the tier that an administrator set. A revoked
// key keeps its tier.
func TestKeyTier(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	id, _ := b.operator("mara_k")
	other, _ := b.operator("other")
	revoked, _ := s.Keys(t.Context(), id)
	if _, _, err := s.Revoke(t.Context(), id, revoked[0].ID); err != nil {
		t.Fatal(err)
	}
	mint := func(id, want string) {
		t.Helper()
		if _, k, err := s.Mint(t.Context(), id, "bot", operator.PrefixKey, nil, false); err != nil || k.Tier != want {
			t.Errorf("new key: %+v, %v; want the tier %s", k, err, want)
		}
	}
	mint(id, "free")
	set := func(tier string) error {
		o, err := s.Classify(t.Context(), operator.Class{Handle: "mara_k", KeyTier: &tier, Actor: "admin"})
		if err == nil && (o.KeyTier != tier || o.Type != protocol.Human) {
			t.Errorf("operator after the key tier %s: %+v", tier, o)
		}
		return err
	}
	if err := errors.Join(set("pro"), set("enterprise")); err != nil {
		t.Fatal(err)
	}
	if err := set("gold"); !errors.Is(err, operator.ErrKeyTier) {
		t.Errorf("an unknown tier: %v", err)
	}
	mint(id, "enterprise")
	mint(other, "free")
	keys, err := s.Keys(t.Context(), id)
	var tiers []string
	for _, k := range keys {
		tiers = append(tiers, k.Tier)
	}
	if err != nil || len(tiers) != 3 || tiers[0] != "enterprise" || tiers[1] != "enterprise" || tiers[2] != "free" {
		t.Errorf("tiers of the keys, newest first: %q, %v", tiers, err)
	}
}

// TestSeededProfiles checks that a seeded profile is an automated system bot outside the crowd, and that an administrator can
// create one only with a free handle.
func TestSeededProfiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.service()
	b.venueMarket("90", 5000)
	_, hash := b.operator("river")
	b.file(hash, "90", protocol.Yes, 5000)
	crowd := func() int { return b.count(`SELECT crowd_yes FROM api.market_totals WHERE market_id = '90'`) }
	yes, no, human := true, false, protocol.Human
	class := func(c operator.Class) (operator.Operator, error) {
		c.Actor = "admin"
		return s.Classify(t.Context(), c)
	}
	o, err := class(operator.Class{Handle: "river", Seeded: &yes})
	if err != nil || !o.Seeded || o.Type != protocol.SystemBot || o.Tier != protocol.Automated || crowd() != 0 {
		t.Errorf("seeded operator: %+v, %v, crowd %d", o, err, crowd())
	}
	if _, err := class(operator.Class{Handle: "river", Type: &human}); !errors.Is(err, operator.ErrSeededType) || crowd() != 0 {
		t.Errorf("a seeded profile became a human: %v, crowd %d", err, crowd())
	}
	o, err = class(operator.Class{Handle: "river", Seeded: &no, Type: &human})
	if err != nil || o.Seeded || o.Tier != protocol.Independent || crowd() != 1 {
		t.Errorf("operator that is not seeded any more: %+v, %v, crowd %d", o, err, crowd())
	}

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			o, err := class(operator.Class{Handle: "Example_Desk", Create: true, DisplayName: "Example desk"})
			if err != nil || o.Handle != "example_desk" || o.DisplayName != "Example desk" || !o.Seeded || o.Tier != protocol.Automated {
				t.Errorf("created profile: %+v, %v", o, err)
			}
		})
	}
	wg.Wait()
	for handle, want := range map[string]error{"river": operator.ErrHandleTaken, "leaderboard": operator.ErrHandleTaken, "a b": protocol.ErrHandle} {
		if _, err := class(operator.Class{Handle: handle, Create: true}); !errors.Is(err, want) {
			t.Errorf("a profile with the handle %q: %v; want %v", handle, err, want)
		}
	}
	if o, err := s.Operator(t.Context(), "river", ""); err != nil || o.Seeded {
		t.Errorf("a refused profile changed the operator %+v, %v", o, err)
	}
	if list, err := Recount(t.Context(), b.rw); err != nil || len(list) != 0 {
		t.Errorf("recount: %+v, %v", list, err)
	}
}

// TestVerificationNotesTheKey checks that VerifyKey stores the time of the last use of an API key, at most once a minute,
// and never for a revoked key.
func TestVerificationNotesTheKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, hash := b.operator("user")
	s := b.service()
	used := func() time.Time {
		t.Helper()
		keys, err := s.Keys(t.Context(), id)
		if err != nil || len(keys) != 1 || keys[0].LastUsedAt == nil {
			t.Fatal(keys, err)
		}
		return keys[0].LastUsedAt.UTC()
	}
	for _, c := range []struct{ after, noted time.Duration }{{0, 0}, {time.Minute, 0}, {time.Millisecond, time.Minute + time.Millisecond}} {
		b.clock.Advance(c.after)
		if _, _, err := s.Verify(t.Context(), hash); err != nil {
			t.Fatal(err)
		}
		if at := used(); !at.Equal(noon.Add(c.noted)) {
			t.Errorf("at %s the last use is %s", b.clock.Now(), at)
		}
	}
	keys := must(s.Keys(t.Context(), id))(t)
	last := used()
	for range 2 {
		if k, _, err := s.Revoke(t.Context(), id, keys[0].ID); err != nil || k.Active {
			t.Fatal(k, err)
		}
	}
	b.clock.Advance(time.Hour)
	if _, _, err := s.Verify(t.Context(), hash); !errors.Is(err, operator.ErrUnauthenticated) || !used().Equal(last) {
		t.Errorf("revoked key: %v, last use %s", err, used())
	}
}

// TestAccountAfterDeletion checks that a person whose account was deleted can sign in again, but for 400 days cannot call the markets of
// all deleted accounts. The new account is listed 90 days after the deletion.
func TestAccountAfterDeletion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const day = 24 * time.Hour
	remove := func(id string) {
		t.Helper()
		if err := errors.Join(b.CloseAccount(t.Context(), id, false, b.clock.Now()), b.EraseAccount(t.Context(), id, b.clock.Now())); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []string{"1000", "1001", "1002", "1003"} {
		b.venueMarket(m, 4000)
		b.exec(`UPDATE api.markets SET end_date = NULL WHERE market_id = $1`, m)
	}
	b.exec(`UPDATE api.market_quotes SET volume_usd = 1000000`)
	other, otherKey := b.operator("other")
	b.file(otherKey, "1000", protocol.Yes, 4100)
	first, key := b.operator("mara")
	calls := map[string]string{"1000": b.file(key, "1000", protocol.Yes, 4100)}
	b.exec(`INSERT INTO api.stations (station_id, user_id, name, url, origin_url, created_at, updated_at)
		VALUES ('planted-station', $1, 'planted', 'https://planted.example/', 'https://planted.example', $2, $2)`, first, noon)
	b.exec(`INSERT INTO api.market_live (market_id, handle, bound, at) VALUES ('1000', 'mara', false, $1)`, noon)
	remove(first)
	if n := b.count(`SELECT count(*) FROM api.stations AS s, api.market_live AS m WHERE s.url LIKE '%planted%' OR m.handle = 'mara'`); n != 0 {
		t.Error("the station or the broadcast of the deleted account has personal data")
	}
	second, key := b.operator("mara")
	calls["1001"] = b.file(key, "1001", protocol.Yes, 4100)
	remove(second)
	third, key := b.operator("mara")
	if first == second || second == third {
		t.Fatal("a deleted account was opened again")
	}
	refused := func(c signal.Caller, want map[string]string) {
		t.Helper()
		for market, first := range want {
			for _, draft := range []func(*signal.Draft){
				func(*signal.Draft) {},
				func(d *signal.Draft) { d.Venue = signal.VenueRequested },
				func(d *signal.Draft) { key := "k" + d.ID; d.IdempotencyKey, d.BodyHash = &key, make([]byte, 32) },
			} {
				d := newDraft(market, protocol.No, 6000)
				draft(&d)
				if got := b.try(c, d); got.Verdict != signal.VerdictDuplicate || got.FirstID != first {
					t.Errorf("%s: %+v; want a duplicate of %s", market, got, first)
				}
			}
		}
	}
	refused(signal.Caller{KeyHash: key}, calls)
	refused(signal.Caller{OperatorID: third}, calls)
	b.file(key, "1002", protocol.Yes, 4100)
	listed := func(at time.Duration, want bool) {
		t.Helper()
		b.clock.Set(noon.Add(at))
		for _, fold := range []bool{false, true} {
			if fold {
				if _, err := b.FoldBoards(t.Context(), 1000, b.clock.Now().Add(-28*day)); err != nil {
					t.Fatal(err)
				}
				b.exec(`UPDATE api.board_rows SET skill_calls = 1, counted = 1`)
			}
			for _, by := range []string{board.ByScore, board.ByBroadcast, board.ByBroadcast28, board.ByEdge, "ranked"} {
				got := map[string]bool{}
				if by == "ranked" {
					for _, r := range must(b.ListRanked(t.Context(), 10, b.clock.Now().Add(-28*day)))(t) {
						got[r.Operator.ID] = true
					}
					r := must(b.ReadRecord(t.Context(), third, 1, 1, b.clock.Now().Add(-28*day)))(t)
					if fold && (r.Field != int64(len(got)) || (r.Rank != nil) != want) {
						t.Errorf("after %s: rank %v in a field of %d; want a field of %d, new account listed: want %t", at, r.Rank, r.Field, len(got), want)
					}
				} else {
					q := board.Query{Tiers: []string{"independent"}, Limit: 10}
					for _, r := range must(b.ListBoard(t.Context(), by, q, b.clock.Now().Add(-28*day)))(t) {
						got[r.Operator.ID] = true
					}
				}
				if stored := fold || by != board.ByEdge && by != "ranked"; stored && (got[third] != want || !got[other] || !got[first]) {
					t.Errorf("%s after %s, folded %t: %v; new account listed: want %t", by, at, fold, got, want)
				}
			}
		}
	}
	b.number()
	listed(0, false)
	listed(90*day-time.Second, false)
	listed(90*day, true)

	b.clock.Set(noon.Add(operator.FormerPeriod - time.Second))
	if err := b.SweepKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused(signal.Caller{KeyHash: key}, calls)
	b.clock.Advance(time.Second)
	if err := b.SweepKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.count(`SELECT count(*) FROM api.former_accounts`); n != 0 {
		t.Errorf("%d references to deleted accounts; want 0", n)
	}
	b.file(key, "1000", protocol.Yes, 4100)
	remove(third)
	b.clock.Advance(operator.FormerPeriod)
	_, key = b.operator("mara")
	b.file(key, "1001", protocol.Yes, 4100)
}
