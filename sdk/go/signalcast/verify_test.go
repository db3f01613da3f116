package signalcast_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/sdk/go/feed"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

const hookSecret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// signHook returns the header of a webhook request, as docs/protocol/webhooks.md describes it.
func signHook(at time.Time, body string, secrets ...string) string {
	out := "t=" + strconv.FormatInt(at.Unix(), 10)
	for _, s := range secrets {
		mac := hmac.New(sha256.New, []byte(s))
		_, _ = fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
		out += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	return out
}

func TestVerifyWebhook(t *testing.T) {
	t.Parallel()
	now := time.Unix(1789732800, 0)
	const body = `{"webhookId":"0199f2c4-2222-7000-8000-000000000001","deliveryId":"0199f2c4-2222-7000-8000-000000000002","attempt":2,"events":[` +
		`{"op":"event","channel":"resolutions","seq":9,"prev":7,"type":"market.resolved","at":"2026-09-18T12:00:00.000Z","data":{"marketId":"7"}},` +
		`{"op":"gap","channel":"resolutions","from":9,"oldest":12},{"op":"test","at":"2026-09-18T12:00:00.000Z"},{"op":"newer"}]}`
	good := signHook(now, body, "whsec_old", hookSecret)
	post, err := signalcast.VerifyWebhook(hookSecret, good, []byte(body), now.Add(299*time.Second))
	if err != nil || post.Attempt != 2 || len(post.Events) != 2 {
		t.Fatalf("%+v, %v", post, err)
	}
	if e, ok := post.Events[0].(*feed.Event); !ok || e.Seq != 9 || e.Prev != 7 || e.Type != feed.MarketResolved {
		t.Errorf("%+v", post.Events[0])
	}
	if g, ok := post.Events[1].(*feed.Gap); !ok || g.Oldest != 12 {
		t.Errorf("%+v", post.Events[1])
	}
	const vector = "t=1789732800,v1=a4fc69a5d2d495214f24d27edc05c60bfa2e01338e099f9750f510bf216f5975" // of docs/protocol/webhooks.md
	if _, err := signalcast.VerifyWebhook(hookSecret, vector, []byte(`{"events":[]}`), now); err != nil {
		t.Errorf("the documented vector: %v", err)
	}
	for name, c := range map[string]struct {
		header, body string
		at           time.Time
		want         error
	}{
		"another body":    {good, body + " ", now, signalcast.ErrWebhookSignature},
		"another secret":  {signHook(now, body, "whsec_other"), body, now, signalcast.ErrWebhookSignature},
		"another time":    {strings.Replace(good, "t=1789732800", "t=1789732801", 1), body, now, signalcast.ErrWebhookSignature},
		"no signature":    {"t=1789732800", body, now, signalcast.ErrWebhookSignature},
		"no header":       {"", body, now, signalcast.ErrWebhookSignature},
		"a later request": {good, body, now.Add(-301 * time.Second), signalcast.ErrWebhookTime},
		"an old request":  {good, body, now.Add(301 * time.Second), signalcast.ErrWebhookTime},
	} {
		if _, err := signalcast.VerifyWebhook(hookSecret, c.header, []byte(c.body), c.at); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, text := range []string{"x", "{}", "[]", `{"events":[7]}`} {
		if _, err := signalcast.VerifyWebhook(hookSecret, signHook(now, text, hookSecret), []byte(text), now); err == nil {
			t.Errorf("the body %s was accepted", text)
		}
	}
	if _, err := signalcast.VerifyWebhook("", signHook(now, body, ""), []byte(body), now); err == nil {
		t.Error("an empty secret was accepted")
	}
}

// An endpoint of a webhook checks each request, stores its events, and answers 200.
func ExampleReadWebhook() {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		post, err := signalcast.ReadWebhook(r, hookSecret, time.Now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, m := range post.Events {
			if e, ok := m.(*feed.Event); ok {
				fmt.Println(e.Channel, e.Seq, e.Type)
			}
		}
	}))
	defer endpoint.Close()
	body := `{"events":[{"op":"event","channel":"signals","seq":7,"type":"signal.created","data":{}}]}`
	r, _ := http.NewRequest(http.MethodPost, endpoint.URL, strings.NewReader(body))
	r.Header.Set("Signalcast-Signature", signHook(time.Now(), body, hookSecret))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = res.Body.Close()
	fmt.Println(res.StatusCode)
	// Output:
	// signals 7 signal.created
	// 200
}
