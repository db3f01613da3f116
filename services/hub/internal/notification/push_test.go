package notification_test

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/services/hub/internal/notification"
)

func TestSubscriptionsAreChecked(t *testing.T) {
	t.Parallel()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	shared := base64.RawURLEncoding.EncodeToString([]byte("sixteen bytes ok"))
	good := `{"endpoint":"https://push.example/send/1","expirationTime":null,"keys":{"p256dh":"` +
		base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()) + `","auth":"` + shared + `"}}`
	if got, err := notification.ParseSubscription(good); err != nil || !strings.HasPrefix(got, `{"endpoint":"https://push.example/send/1","keys":{"auth":"`) {
		t.Errorf("%s, error %v", got, err)
	}
	for name, bad := range map[string]string{
		"no JSON":        "x",
		"http":           strings.Replace(good, "https:", "http:", 1),
		"no host":        strings.Replace(good, "push.example", "", 1),
		"credentials":    strings.Replace(good, "https://", "https://a:b@", 1),
		"no key":         strings.Replace(good, `"p256dh":"B`, `"p256dh":"A`, 1),
		"a short secret": strings.Replace(good, shared, "AAAA", 1),
		"too many bytes": strings.Replace(good, "/send/1", "/"+strings.Repeat("a", 4096), 1),
		"no keys":        `{"endpoint":"https://push.example/1"}`,
	} {
		if got, err := notification.ParseSubscription(bad); err == nil {
			t.Errorf("%s: accepted as %s", name, got)
		}
	}
}
