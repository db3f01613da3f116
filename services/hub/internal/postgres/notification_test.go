package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/testkit"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/follow"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

func newWorker(store notification.WorkerStore, l *feedLedger) *notification.Worker {
	return &notification.Worker{Store: store, Feed: l, Signals: callLedger{of: l}, Operators: handleLedger{of: l}, Log: slog.New(slog.DiscardHandler)}
}

// drain runs rounds until no work waits.
func drain(t *testing.T, w *notification.Worker) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = w.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func entries(t *testing.T, store *postgres.Store, user int) []notification.Entry {
	t.Helper()
	list, err := store.ListNotifications(t.Context(), person(user), notification.Place{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func kinds(list []notification.Entry) []string {
	out := []string{}
	for _, e := range list {
		out = append(out, fmt.Sprintf("%s %s %d", e.Kind, e.Handle, e.Count))
	}
	return out
}

func followAt(t *testing.T, store *postgres.Store, follower, followed int, at time.Time) {
	t.Helper()
	if err := store.Follow(t.Context(), operatorOf(follower), operatorOf(followed), at); err != nil {
		t.Fatal(err)
	}
}

const signalID = "0199f0b0-0000-7000-8000-000000000001"

var created = `{"id":"` + signalID + `","status":"pending","score":null}`

// TestNotifications checks the entries of each event: who receives them, the grouping by forecaster and day, and that nothing older
// than the follow, and nothing of a muted forecaster or of a kind that is off, is stored.
func TestNotifications(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	l := &feedLedger{calls: map[string]int64{string(person(1)): 9}}
	l.add("signal.created", 1, noon, created) // before the first start of the worker
	w := newWorker(store, l)
	drain(t, w)

	followAt(t, store, 2, 1, noon)
	followAt(t, store, 3, 1, noon.Add(time.Hour))
	followAt(t, store, 4, 1, noon)
	followAt(t, store, 5, 1, noon)
	off, muted := false, true
	for user, to := range map[int]follow.Switches{4: {Muted: &muted}, 5: {Calls: &off}} {
		if known, err := store.SetFollow(t.Context(), person(user), person(1), to, noon); err != nil || !known {
			t.Fatal(known, err)
		}
	}
	l.calls[string(person(1))] = 11
	for _, at := range []time.Duration{time.Minute, 2 * time.Minute} {
		l.add("signal.created", 1, noon.Add(at), created)
	}
	l.add("signal.created", 1, noon.Add(24*time.Hour), created)
	l.add("signal.event", 1, noon.Add(3*time.Minute), `{"signalId":"`+signalID+`","event":{"type":"take"}}`)
	l.add("signal.event", 1, noon.Add(3*time.Minute), `{"signalId":"`+signalID+`","event":{"type":"note"}}`)
	l.add("operator.live", 1, noon.Add(3*time.Minute), `{"approved":true,"showId":"first"}`)
	l.add("operator.live", 1, noon.Add(4*time.Minute), `{"approved":true,"showId":"second"}`)
	l.add("operator.live", 9, noon.Add(4*time.Minute), `{"approved":false}`)
	l.add("signal.resolved", 2, noon, `{"signalId":"`+signalID+`","status":"won","score":38}`)
	l.add("signal.resolved", 2, noon, `{"signalId":"`+signalID+`","status":"void","score":0,"reason":"late"}`)
	drain(t, w)
	drain(t, w)

	for user, want := range map[int][]string{
		1: {"milestone  10", "followed op_5 4"},
		2: {
			"call_void  1", "call_resolved  1", "forecaster_live op_1 2", "forecaster_take op_1 1", "forecaster_called op_1 1",
			"forecaster_called op_1 2",
		},
		3: {"forecaster_called op_1 1"},
		4: {},
		5: {"forecaster_live op_1 2", "forecaster_take op_1 1"},
	} {
		if got := kinds(entries(t, store, user)); !slices.Equal(got, want) {
			t.Errorf("user %d: %q, want %q", user, got, want)
		}
	}
	waiting, err := store.Waiting(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	announced := map[string]string{} // kind of each announced notification, by its id
	for _, f := range waiting {
		var data struct {
			Kind string
			IDs  map[operator.ID]string
		}
		if f.Type != "notification.created" {
			continue
		}
		if err := json.Unmarshal([]byte(f.Data), &data); err != nil {
			t.Fatal(err)
		}
		announced[data.IDs[person(2)]] = data.Kind
	}
	for _, e := range entries(t, store, 2) {
		if announced[e.ID] != string(e.Kind) {
			t.Errorf("the notification %s of the kind %s is announced as %q", e.ID, e.Kind, announced[e.ID])
		}
	}
	if live := entries(t, store, 2)[2]; live.Reason != "second" {
		t.Errorf("the entry of the broadcasts has the broadcast %q, want the newest one", live.Reason)
	}
	e := entries(t, store, 2)[0]
	if e.Status != "void" || e.Reason != "late" || e.Score == nil || *e.Score != 0 || e.MarketID != "701122" || e.SignalID != signalID {
		t.Errorf("entry of the void call: %+v", e)
	}
}

// TestMarketNotifications checks that each caller and each watcher of a market has one entry of a dispute, also a user who is both,
// and that a watch after the dispute has none.
func TestMarketNotifications(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	l := &feedLedger{callers: []string{string(person(1)), string(person(2))}}
	w := newWorker(store, l)
	drain(t, w)
	for user, at := range map[int]time.Time{2: noon, 3: noon, 4: noon.Add(2 * time.Hour)} {
		if err := store.Watch(t.Context(), person(user), "701122", at); err != nil {
			t.Fatal(err)
		}
	}
	l.add("market.disputed", 0, noon.Add(time.Hour), `{"score":"not of a call"}`)
	drain(t, w)
	for user, want := range map[int]int{1: 1, 2: 1, 3: 1, 4: 0} {
		if got := kinds(entries(t, store, user)); len(got) != want || want == 1 && got[0] != "market_disputed  1" {
			t.Errorf("user %d: %q, want %d", user, got, want)
		}
	}
}

// TestSwitches checks that nothing is stored while a kind is off, and nothing older than the time of switching it on.
func TestSwitches(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	l := &feedLedger{}
	w := newWorker(store, l)
	drain(t, w)
	resolve := func(at time.Time) {
		l.add("signal.resolved", 1, at, `{"status":"won","score":1}`)
		drain(t, w)
	}
	set := func(on bool, at time.Time) {
		t.Helper()
		if err := store.SetSwitches(t.Context(), person(1), map[notification.Kind]bool{notification.CallResolved: on}, at); err != nil {
			t.Fatal(err)
		}
	}
	set(true, noon.Add(time.Hour)) // it was on
	resolve(noon)
	set(false, noon)
	resolve(noon.Add(time.Minute))
	if off, err := store.SwitchedOff(t.Context(), person(1)); err != nil || !off[notification.CallResolved] || len(off) != 1+len(notification.OffByDefault) {
		t.Errorf("switched off: %v %v", off, err)
	}
	set(true, noon.Add(time.Hour))
	set(true, noon.Add(3*time.Hour))
	resolve(noon.Add(2 * time.Minute)) // older than the switch
	resolve(noon.Add(time.Hour))
	var seqs []int64
	for _, e := range entries(t, store, 1) {
		seqs = append(seqs, e.Seq)
	}
	if !slices.Equal(seqs, []int64{4, 1}) {
		t.Errorf("events with entries: %v, want 4 and 1", seqs)
	}
}

// TestClosingMarkets checks that callers and watchers of a market that closes soon are notified once, if they have switched the kind
// on: it is off by default.
func TestClosingMarkets(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	w := newWorker(store, &feedLedger{callers: []string{string(person(1)), string(person(2))}})
	drain(t, w)
	if off, err := store.SwitchedOff(t.Context(), person(1)); err != nil || !off[notification.MarketCloses] || len(off) != 1 {
		t.Errorf("off by default: %v %v", off, err)
	}
	for _, user := range []int{2, 3, 4} {
		err := store.SetSwitches(t.Context(), person(user), map[notification.Kind]bool{notification.MarketCloses: true}, noon)
		if err == nil && user != 4 {
			err = store.Watch(t.Context(), person(user), "701122", noon)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := w.NotifyClosing(t.Context(), noon.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	for user, want := range map[int][]string{1: {}, 2: {"market_closes  1"}, 3: {"market_closes  1"}, 4: {}} {
		if got := kinds(entries(t, store, user)); !slices.Equal(got, want) {
			t.Errorf("user %d: %q, want %q", user, got, want)
		}
	}
}

// TestNoticesOfLedger checks that each notice of the ledger becomes one entry, also if workers read it at the same time, and that the
// switch of milestones applies to the confirmation of skill.
func TestNoticesOfLedger(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	l := &feedLedger{}
	w := newWorker(store, l)
	drain(t, w)
	milestones := notification.Switches[slices.IndexFunc(notification.Switches, func(one notification.Switch) bool { return one.Name == "milestones" })]
	off := map[notification.Kind]bool{}
	for _, kind := range milestones.Kinds {
		off[kind] = false
	}
	if err := store.SetSwitches(t.Context(), person(2), off, noon); err != nil {
		t.Fatal(err)
	}
	notice := func(kind, key string, user int) {
		l.notices = append(l.notices, &operatorv1.Notice{
			Id: int64(10 * (len(l.notices) + 1)), OperatorId: string(person(user)), Kind: kind, Key: key, Text: "bot.example", At: timestamppb.New(noon),
		})
	}
	for user := 1; user <= 2; user++ {
		notice("skill_confirmed", "", user)
		notice("webhook_deactivated", "first", user)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := w.NotifyOperators(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	notice("webhook_deactivated", "second", 1)
	for range 2 {
		if err := w.NotifyOperators(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for user, want := range map[int][]string{
		1: {"skill_confirmed  1", "webhook_deactivated  1", "webhook_deactivated  1"}, 2: {"webhook_deactivated  1"},
	} {
		got := kinds(entries(t, store, user))
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("user %d: %q, want %q", user, got, want)
		}
	}
	if id, err := store.NoticeCursor(t.Context()); err != nil || id != 50 {
		t.Errorf("the cursor is %d, want 50: %v", id, err)
	}
}

// TestEndOfFollow checks that an unfollow and a mute delete the unread entries of the forecaster, and nothing else, and that the
// entry of new followers does not count an ended follow.
func TestEndOfFollow(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	l := &feedLedger{}
	w := newWorker(store, l)
	drain(t, w)
	for follower := 2; follower <= 4; follower++ {
		followAt(t, store, follower, 1, noon)
		followAt(t, store, follower, 9, noon)
	}
	l.add("signal.created", 1, noon.Add(time.Minute), created)
	drain(t, w)
	read := entries(t, store, 4)
	if err := store.MarkRead(t.Context(), person(4), read[0].ID, noon); err != nil {
		t.Fatal(err)
	}
	l.add("signal.created", 9, noon.Add(time.Minute), created)
	drain(t, w)
	muted := true
	if _, err := store.SetFollow(t.Context(), person(2), person(1), follow.Switches{Muted: &muted}, noon); err != nil {
		t.Fatal(err)
	}
	for _, follower := range []int{3, 4} {
		if err := store.Unfollow(t.Context(), person(follower), person(1), noon); err != nil {
			t.Fatal(err)
		}
	}
	for user, want := range map[int][]string{
		1: {"followed op_2 1"},
		2: {"forecaster_called op_9 1"},
		3: {"forecaster_called op_9 1"},
		4: {"forecaster_called op_9 1", "forecaster_called op_1 1"},
	} {
		if got := kinds(entries(t, store, user)); !slices.Equal(got, want) {
			t.Errorf("user %d: %q, want %q", user, got, want)
		}
	}
}

// TestRepeatedFollow checks that a follow which ends and starts again after the followed user has read its entry does not make an
// entry unread, and that it does if the entry was not read.
func TestRepeatedFollow(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	drain(t, newWorker(store, &feedLedger{}))
	again := func() {
		t.Helper()
		if err := store.Unfollow(t.Context(), person(2), person(1), noon); err != nil {
			t.Fatal(err)
		}
		followAt(t, store, 2, 1, noon)
	}
	shows := func(unread int64, want ...string) {
		t.Helper()
		n, err := store.CountUnread(t.Context(), person(1))
		if got := kinds(entries(t, store, 1)); err != nil || n != unread || !slices.Equal(got, want) {
			t.Errorf("%d unread of %q, %v; want %d of %q", n, got, err, unread, want)
		}
	}
	followAt(t, store, 2, 1, noon)
	again()
	shows(1, "followed op_2 1")
	if err := store.MarkRead(t.Context(), person(1), entries(t, store, 1)[0].ID, noon); err != nil {
		t.Fatal(err)
	}
	followAt(t, store, 3, 1, noon)
	shows(1, "followed op_3 2")
	if err := store.MarkRead(t.Context(), person(1), entries(t, store, 1)[0].ID, noon); err != nil {
		t.Fatal(err)
	}
	again()
	again()
	shows(0, "followed op_3 1")
	if err := store.Unfollow(t.Context(), person(3), person(1), noon); err != nil {
		t.Fatal(err)
	}
	shows(0)
	again()
	shows(0)
	if _, err := store.SweepNotifications(t.Context(), noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	again()
	shows(1, "followed op_2 1") // 90 days later
}

// TestWithdraw checks that hiding a call, a mute and hiding an operator delete the unread entries about them: of all followers, also
// those that wait, and the name among new followers. It also checks that a fact about the account is stored once.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	store, database := open(t)
	l := &feedLedger{}
	w := newWorker(store, l)
	drain(t, w)
	for follower := 2; follower <= 3; follower++ {
		followAt(t, store, follower, 1, noon)
	}
	followAt(t, store, 1, 2, noon)
	followAt(t, store, 4, 2, noon)
	followAt(t, store, 1, 3, noon)
	followAt(t, store, 1, 5, noon)
	if err := store.MarkRead(t.Context(), person(5), entries(t, store, 5)[0].ID, noon); err != nil {
		t.Fatal(err)
	}
	const other = "0199f0b0-0000-7000-8000-000000000002"
	l.add("signal.created", 1, noon.Add(time.Minute), created)
	l.add("signal.event", 1, noon.Add(time.Minute), `{"signalId":"`+other+`","event":{"type":"take"}}`)
	drain(t, w)
	withdraw := func(signal string) {
		t.Helper()
		if err := store.Withdraw(t.Context(), person(1), signal); err != nil {
			t.Fatal(err)
		}
	}
	withdraw(signalID)
	muted := true
	if _, err := store.SetFollow(t.Context(), person(3), person(1), follow.Switches{Muted: &muted}, noon); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := store.Notify(t.Context(), person(4), notification.TextHidden, "signal "+signalID, "abuse", noon)
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(want map[int][]string) {
		t.Helper()
		for user, want := range want {
			if got := kinds(entries(t, store, user)); !slices.Equal(got, want) {
				t.Errorf("user %d: %q, want %q", user, got, want)
			}
		}
	}
	check(map[int][]string{2: {"forecaster_take op_1 1", "followed op_4 2"}, 3: {}, 4: {"text_hidden  1"}, 5: {"followed op_1 1"}})
	withdraw("")
	check(map[int][]string{2: {"followed op_4 2"}, 5: {"followed op_1 1"}})

	pool := testkit.Pool(t, database.URL("hub_rw"))
	if _, err := pool.Exec(t.Context(), `INSERT INTO follows (follower, followed, created_at, calls_from)
		SELECT gen_random_uuid(), $1::uuid, $2, $2 FROM generate_series(1, 1500)`, person(1), noon); err != nil {
		t.Fatal(err)
	}
	l.add("signal.created", 1, noon.Add(time.Minute), created)
	if more, err := w.Round(t.Context()); err != nil || !more {
		t.Fatal(more, err)
	}
	withdraw("")
	drain(t, w)
	var left int
	err := pool.QueryRow(t.Context(), "SELECT count(*) FROM notifications WHERE kind = 'forecaster_called'").Scan(&left)
	if err != nil || left != 0 {
		t.Errorf("%d notifications are left, %v", left, err)
	}
}

// TestMarkRead marks an entry as read: all older entries become read too. A later event of the same group makes its entry unread
// again. The test also checks the order of the pages of the list.
func TestMarkRead(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	l := &feedLedger{}
	w := newWorker(store, l)
	drain(t, w)
	followAt(t, store, 2, 1, noon)
	unread := func(want int64) {
		t.Helper()
		if n, err := store.CountUnread(t.Context(), person(2)); err != nil || n != want {
			t.Errorf("unread: %d %v, want %d", n, err, want)
		}
	}
	for range 120 {
		l.add("signal.resolved", 2, noon, `{"status":"won","score":1}`)
	}
	l.add("signal.created", 1, noon, created)
	drain(t, w)
	unread(notification.MaxUnread)
	first := entries(t, store, 2)
	rest, err := store.ListNotifications(t.Context(), person(2), notification.Place{Seq: first[99].Seq, ID: first[99].ID}, 100)
	if err != nil || len(first) != 100 || len(rest) != 21 || first[0].Seq != 121 || rest[0].Seq != 21 {
		t.Fatalf("pages of %d and %d entries, %v", len(first), len(rest), err)
	}
	if err := store.MarkRead(t.Context(), person(2), rest[0].ID, noon); err != nil {
		t.Fatal(err)
	}
	unread(100)
	if err := store.MarkRead(t.Context(), person(2), first[0].ID, noon); err != nil {
		t.Fatal(err)
	}
	unread(0)
	l.add("signal.created", 1, noon.Add(time.Minute), created)
	drain(t, w)
	unread(1)
	if e := entries(t, store, 2)[0]; e.ID != first[0].ID || e.Count != 2 || e.Seq != 122 || !e.ReadAt.IsZero() {
		t.Errorf("entry of the group: %+v", e)
	}
	for _, id := range []string{uuid.NewString(), first[0].ID} { // unknown, and of another user
		if err := store.MarkRead(t.Context(), person(1), id, noon); !errors.Is(err, notification.ErrUnknown) {
			t.Errorf("mark %s: %v", id, err)
		}
	}
	if n, err := store.SweepNotifications(t.Context(), noon.Add(time.Second)); err != nil || n != 121 {
		t.Errorf("swept: %d %v, want the 120 results and the entry of the follow", n, err)
	}
}

// stopping is a store whose process ends at random: before a transaction, or after its commit.
type stopping struct {
	notification.WorkerStore
	random *rand.Rand
}

var errStopped = errors.New("the process ended")

func (s stopping) end(do func() error) error {
	switch s.random.IntN(4) {
	case 0:
		return errStopped
	case 1:
		if err := do(); err != nil {
			return err
		}
		return errStopped
	}
	return do()
}

func (s stopping) StoreFacts(ctx context.Context, after, upTo int64, facts []notification.Fact) error {
	return s.end(func() error { return s.WorkerStore.StoreFacts(ctx, after, upTo, facts) })
}

func (s stopping) AdvanceFanout(ctx context.Context, f notification.Fanout, callers []operator.ID) error {
	return s.end(func() error { return s.WorkerStore.AdvanceFanout(ctx, f, callers) })
}

// TestStoppedWorker checks that each recipient of a fact with many recipients, and of a fact with few, has exactly one entry after
// workers that stop at random points, and two workers at the same time.
func TestStoppedWorker(t *testing.T) {
	t.Parallel()
	store, database := open(t)
	pool := testkit.Pool(t, database.URL("hub_rw"))
	l := &feedLedger{}
	drain(t, newWorker(store, l))
	const many = 2500
	for i := range many {
		l.callers = append(l.callers, string(person(1000+i)))
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO follows (follower, followed, created_at, calls_from)
		SELECT f::uuid, $2::uuid, $3, $3 FROM unnest($1::text[]) f`, l.callers, person(1), noon); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		followAt(t, store, 10_000+i, 2, noon)
	}
	for range 7 {
		l.add("signal.created", 1, noon.Add(time.Minute), created)
		l.add("signal.created", 2, noon.Add(time.Minute), created)
	}
	l.add("market.disputed", 0, noon.Add(time.Minute), `{}`)
	random := rand.New(rand.NewPCG(1, 2))
	stopped := 0
	var wait sync.WaitGroup
	for more := true; more; {
		var err error
		other := newWorker(store, l)
		wait.Go(func() { _, _ = other.Round(t.Context()) })
		if more, err = newWorker(stopping{store, random}, l).Round(t.Context()); errors.Is(err, errStopped) {
			stopped++
			more = true
		} else if err != nil {
			t.Fatal(err)
		}
	}
	wait.Wait()
	drain(t, newWorker(store, l))
	if stopped < 3 {
		t.Errorf("the worker stopped %d times", stopped)
	}
	rows, err := pool.Query(t.Context(), `SELECT kind || ' ' || actor_handle || ' ' || count || ' ' || n FROM (
		SELECT kind, handle AS actor_handle, count, count(*) AS n FROM notifications WHERE kind <> 'followed' GROUP BY 1, 2, 3) g ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	want := []string{"forecaster_called op_1 7 2500", "forecaster_called op_2 7 300", "market_disputed  1 2500"}
	if !slices.Equal(got, want) {
		t.Errorf("kind, actor, count and entries: %q, want %q", got, want)
	}
}
