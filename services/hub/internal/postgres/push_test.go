package postgres_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
)

// TestPushMessages checks that each subscription of a user has one message of a result and none of another kind, and that the message
// ends with the session, with the subscription, and after a day.
func TestPushMessages(t *testing.T) {
	t.Parallel()
	store, _ := open(t)
	l := &feedLedger{}
	w := newWorker(store, l)
	drain(t, w)
	add := func(user int, subscription string) time.Time {
		t.Helper()
		at, err := store.AddSession(t.Context(), caller.StoredSession{Operator: person(user), IssuedAt: noon, SignedInAt: noon, Device: phone})
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := store.SetPush(t.Context(), person(user), at, subscription); !ok || err != nil {
			t.Fatal(ok, err)
		}
		return at
	}
	waiting := func(now time.Time) (out []string, list []notification.Message) {
		t.Helper()
		list, err := store.ListPush(t.Context(), now, now.Add(-notification.PushLife), 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			out = append(out, fmt.Sprint(m.Subscription, " ", m.Entry.Kind, " ", m.Entry.Status, " ", m.Attempts))
		}
		slices.Sort(out)
		return out, list
	}
	first := add(1, "laptop")
	add(1, "phone")
	add(2, "tablet")
	add(3, "shared")
	add(4, "shared") // the browser belongs to the session that subscribed last
	for user := range 4 {
		l.add("signal.resolved", user+1, noon, `{"signalId":"`+signalID+`","status":"won","score":38}`)
		l.add("signal.created", user+1, noon, created)
	}
	drain(t, w)
	drain(t, w)
	got, list := waiting(noon)
	if want := []string{
		"laptop call_resolved won 0", "phone call_resolved won 0", "shared call_resolved won 0", "tablet call_resolved won 0",
	}; !slices.Equal(got, want) {
		t.Fatalf("messages %q, want %q", got, want)
	}
	for _, m := range list {
		var err error
		switch m.Subscription {
		case "shared":
			err = store.DeletePush(t.Context(), m)
		case "phone":
			err = store.DelayPush(t.Context(), m, noon.Add(time.Minute))
		case "tablet":
			err = store.EndPush(t.Context(), m)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := waiting(noon); !slices.Equal(got, []string{"laptop call_resolved won 0"}) {
		t.Errorf("messages after the first attempts: %q", got)
	}
	if err := store.EndSession(t.Context(), person(1), first, noon); err != nil {
		t.Fatal(err)
	}
	if got, _ := waiting(noon.Add(time.Minute)); !slices.Equal(got, []string{"phone call_resolved won 1"}) {
		t.Errorf("messages after the end of a session and a minute: %q", got)
	}
	if ok, err := store.SetPush(t.Context(), person(1), first, "laptop"); ok || err != nil {
		t.Errorf("an ended session is subscribed: %t, error %v", ok, err)
	}
	if got, _ := waiting(noon.Add(notification.PushLife + time.Minute)); len(got) > 0 {
		t.Errorf("messages after a day: %q", got)
	}
	for i := range notification.MaxSubscriptions {
		at, err := store.AddSession(t.Context(), caller.StoredSession{Operator: person(1), IssuedAt: noon, SignedInAt: noon, Device: phone})
		if err != nil {
			t.Fatal(err)
		}
		// One subscription exists: the phone.
		if ok, err := store.SetPush(t.Context(), person(1), at, fmt.Sprint("device ", i)); ok != (i < notification.MaxSubscriptions-1) || err != nil {
			t.Errorf("subscription %d is stored: %t, error %v", i+2, ok, err)
		}
	}
}
