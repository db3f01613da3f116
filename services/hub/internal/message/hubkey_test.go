package message

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	seed1 = "0101010101010101010101010101010101010101010101010101010101010101"
	seed2 = "0202020202020202020202020202020202020202020202020202020202020202"
)

func ring(t testing.TB, setting string) *HubKeys {
	t.Helper()
	keys, err := ParseHubKeys(setting)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestHubKeyRotation checks that the newest valid key signs, and that replaced keys remain listed.
func TestHubKeyRotation(t *testing.T) {
	t.Parallel()
	keys := ring(t, `[{"seed":"`+seed1+`","notBefore":"2026-01-01T00:00:00Z","notAfter":"2026-10-01T00:00:00Z"},
		{"seed":"`+seed2+`","notBefore":"2026-09-01T00:00:00+02:00"}]`)
	all := keys.All()
	if len(all) != 2 || !all[0].NotAfter.IsZero() || all[1].NotAfter.IsZero() || all[0].Kid == all[1].Kid || !strings.HasPrefix(all[0].Kid, "hub_") {
		t.Fatalf("%+v", all)
	}
	for at, want := range map[string]Key{
		"2026-01-01T00:00:00Z": all[1].Key, "2026-08-31T21:59:59Z": all[1].Key, "2026-08-31T22:00:00Z": all[0].Key, "2030-01-01T00:00:00Z": all[0].Key, "2025-12-31T23:59:59Z": "",
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		got, sign, err := keys.sign(when)
		if got != want || (err == nil) == (want == "") {
			t.Errorf("%s: %s, %v", at, got, err)
		}
		if err == nil && !got.Verify([]byte("data"), sign([]byte("data"))) {
			t.Errorf("%s: the signature is invalid", at)
		}
	}
	if _, found := keys.Find(publicKey(seeded("x"))); found {
		t.Error("an unknown key was found as a hub key")
	}
	all[0].Key = ""
	if keys.All()[0].Key == "" {
		t.Error("a change of the returned list changed the keys")
	}
}

// TestHubKeySetting checks that an invalid setting HUB_KEYS is refused, and that the error contains no secret.
func TestHubKeySetting(t *testing.T) {
	t.Parallel()
	own := string(ring(t, `[{"seed":"`+seed1+`","notBefore":"2026-01-01T00:00:00Z"}]`).All()[0].Key)
	const from = `"notBefore":"2026-01-01T00:00:00Z"`
	for _, setting := range []string{
		"", "x", "{}", "[]", "[{}]", `[{"seed":"` + seed1 + `"}]`,
		`[{"seed":"` + seed1[2:] + `",` + from + `}]`,
		`[{"seed":"` + seed1[1:] + `g",` + from + `}]`,
		`[{"seed":"` + seed1 + `","publicKey":"` + string(publicKey(seeded("x"))) + `",` + from + `}]`,
		`[{"seed":"` + seed1 + `",` + from + `},{"seed":"` + seed1 + `",` + from + `}]`,
		`[{"seed":"` + seed1 + `",` + from + `,"notAfter":"2026-01-01T00:00:00Z"}]`,
		`[{"publicKey":"` + own + `",` + from + `,"notAfter":"2026-02-01T00:00:00Z"}]`,
		`[{"seed":"` + seed2 + `",` + from + `},{"publicKey":"` + own + `",` + from + `}]`,
		`[{"seed":"` + seed2 + `",` + from + `},{"publicKey":"` + fmt.Sprintf("01%062d", 0) + `",` + from + `,"notAfter":"2026-02-01T00:00:00Z"}]`,
	} {
		_, err := ParseHubKeys(setting)
		if err == nil || strings.Contains(err.Error(), seed1[2:]) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
