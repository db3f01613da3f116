package access

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestMessagesAreAcceptedOnce checks that a signed message is accepted once (guarantee J2). Copies that are sent concurrently,
// later, or after the loss of Redis data receive the first answer. Other messages with the same nonce are refused.
func TestMessagesAreAcceptedOnce(t *testing.T) {
	s := stack.Exclusive(t, stack.Hubs(2), stack.ScoredAtOnce())
	c, o := stack.NewCrowd(200), s.NewOperator(t)
	signer := o.NewSigner(t)
	signer.Register(t, stack.Bearer(o.Key), "signal:create")
	submit := func(i int, message stack.JSON) (a stack.Answer) {
		for n := range 100 { // an overloaded hub answers 503 although it may have stored the message
			var err error
			a, err = c.Try(t, http.MethodPost, s.HubAt(i+n)+stack.ProtocolPath+"/messages", stack.Body(message))
			if err == nil && a.Status != http.StatusServiceUnavailable {
				break
			}
			stack.Wait(t, 100*time.Millisecond)
		}
		return a
	}
	n := stack.Size(t, 1, 6, 20)
	messages, changed := make([]stack.JSON, n), make([]stack.JSON, n)
	for i := range messages {
		payload := stack.JSON{"marketId": s.NewNativeMarket(t, 5000, nil), "position": "YES", "priceBps": 5000}
		draft := signer.Draft("signal.create", payload)
		messages[i], changed[i] = signer.Sign(draft), signer.Sign(draft.With("payload", payload.With("position", "NO")))
		requireOneAccepted(t, stack.Size(t, 50, 500, 500), func(copy int) stack.Answer { return submit(copy, messages[i]) })
		if calls := stack.Query[int](t, s, "SELECT count(*) FROM api.signals WHERE market_id = $1", payload["marketId"]); calls != 1 {
			t.Errorf("copies of one message created %d calls; want 1", calls)
		}
	}
	repeat := func(t *testing.T) {
		for i := range messages {
			for hub := range s.AllHubs() {
				submit(hub, messages[i]).Require(http.StatusOK)
			}
			submit(i, changed[i]).RequireError(http.StatusConflict, "nonce_reused")
		}
	}
	t.Run("later", repeat)
	if err := openRedis(t, s).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	t.Run("after Redis was emptied", repeat)
	calls := stack.Query[int](t, s, "SELECT count(*) FROM api.signals WHERE user_id = $1", o.ID)
	stored := stack.Query[int](t, s, "SELECT count(*) FROM hub.messages WHERE public_key = $1 AND status = 'accepted'", signer.PublicKey)
	if calls != n || stored != n {
		t.Errorf("%d calls and %d messages are stored; want %d of each", calls, stored, n)
	}
}

// TestOneMessagePerNonce checks that the hub accepts only one of several different messages with the same nonce
// (guarantee J2).
func TestOneMessagePerNonce(t *testing.T) {
	t.Parallel()
	s := accessStack(t)
	c, o := stack.NewCrowd(200), s.NewOperator(t)
	signer := o.NewSigner(t)
	signer.Register(t, stack.Bearer(o.Key), "station:update")
	station := "nonce-" + signer.PublicKey[:8]
	o.NewStation(t, station)
	draft := signer.Draft("station.update", nil)
	var mu sync.Mutex
	accepted := 0
	stack.AtOnce(20, func(i int) { // a key may send 30 messages per minute
		message := signer.Sign(draft.With("payload", stack.JSON{"stationId": station, "description": time.Now().String()}))
		a := sendPatiently(t, c, http.MethodPost, s.HubAt(i)+stack.ProtocolPath+"/messages", stack.Body(message))
		mu.Lock()
		defer mu.Unlock()
		if a.Status == http.StatusCreated {
			accepted++
		} else if a.Status != http.StatusConflict || a.Code() != "nonce_reused" {
			t.Errorf("another message with the same nonce was answered %d %s; want 409 nonce_reused", a.Status, a.Body)
		}
	})
	if accepted != 1 {
		t.Errorf("%d messages with one nonce were accepted; want 1", accepted)
	}
}

// requireOneAccepted sends copies of a message concurrently. It requires that one copy is accepted and that the others receive
// the same result.
func requireOneAccepted(t *testing.T, copies int, submit func(copy int) stack.Answer) {
	t.Helper()
	var mu sync.Mutex
	statuses, ids := map[int]int{}, map[string]bool{}
	stack.AtOnce(copies, func(i int) {
		a := submit(i)
		mu.Lock()
		defer mu.Unlock()
		statuses[a.Status]++
		if a.Status < 300 {
			ids[a.Text("id")] = true
		}
	})
	if statuses[http.StatusCreated] != 1 || statuses[http.StatusOK] != copies-1 || len(ids) != 1 {
		t.Errorf("%d copies of one message: answers by status %v with %d ids; want one 201, 200 for the others, and one id", copies, statuses, len(ids))
	}
}
