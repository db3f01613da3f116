package secretscan_test

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalcast/signalcast/test/system/secretscan"
)

// noise returns the base64url encoding of 36 pseudo-random bytes without a recognizable word.
func noise() string {
	raw := make([]byte, 36)
	x := uint32(2463534242)
	for i := range raw {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		raw[i] = byte(x)
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	secret := noise()
	for name, c := range map[string]struct {
		text, want string
	}{
		"a secret of the system":     {"x = the-canary-of-this-test", "contains the canary"},
		"a key":                      {"curl -H 'Bearer dk_" + secret + "'", "the form of a secret"},
		"an agent's key":             {"db_live_" + secret, "the form of a secret"},
		"an app's token":             {"dat_" + secret, "the form of a secret"},
		"a refresh token":            {"drt_" + secret, "the form of a secret"},
		"a cloud's key":              {"id: AKIA" + "Q3XLM7RZ0TV5NWPB", "the form of a secret"},
		"a private key":              {"-----BEGIN EC PRIVATE" + " KEY-----\n" + secret + "\n", "the form of a secret"},
		"a signed token":             {"eyJhbGciOiJFUzI1NiJ9" + ".eyJzdWIiOiJhYmNkIn0." + secret, "the form of a secret"},
		"a random value":             {"value " + secret, "a random-looking value"},
		"digits after a name":        {`"admin_secret": "` + "4f1c9ad27be03658" + `e1d4a7b09c3f6285"`, "after the name of a secret"},
		"a setting":                  {"HUB_PASSWORD=" + secret[:22], "after the name of a secret"},
		"nothing":                    {"a sentence about the secret: it is kept elsewhere", ""},
		"an alphabet":                {`const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"`, ""},
		"an identifier of a program": {"GetStreamerAnalyticsParamsWindowN24H", ""},
		"the number of a token":      {`"token_id": "30761434287848437595941445481689166113189856445749751235124586287345084092951"`, ""},
		"a header without its key":   {"-----BEGIN PRIVATE KEY-----", ""},
	} {
		s := secretscan.New(map[string]string{"the canary": "the-canary-of-this-test"})
		s.Text("a/file.txt", []byte(c.text))
		got := strings.Join(s.Hits(), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: findings are %q; want %q", name, got, c.want)
		}
		if strings.Contains(got, secret) {
			t.Errorf("%s: the finding contains the secret value", name)
		}
	}
}

// TestExceptions checks that an exception applies only to its file.
func TestExceptions(t *testing.T) {
	t.Parallel()
	// The value is the example of RFC 7636. It is split into two strings so that this file needs no exception.
	line := []byte("dBjftJeZ4CVP-mB92K27" + "uhbUJU1p1r_wW1gFWFOEjXk\n")
	s := secretscan.New(nil)
	s.Text("test/prove/internal/rows/consent.go", line)
	if hits := s.Hits(); len(hits) != 0 {
		t.Errorf("findings are %q; want none in the file of the exception", hits)
	}
	if n, idle := s.Exceptions(); len(idle) != n-1 {
		t.Errorf("%d of %d exceptions were not met; want all but one", len(idle), n)
	}
	s.Text("elsewhere.go", line)
	if hits := s.Hits(); len(hits) != 1 {
		t.Errorf("findings in another file are %q; want one", hits)
	}
}

// TestHistory checks that History can read the history of this repository.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := secretscan.New(nil)
	n, err := s.History(t.Context(), "../../..")
	if err != nil || n < 10 || s.Bytes < 1000 {
		t.Fatalf("%d objects and %d bytes were searched (error %v); want at least 10 objects and 1000 bytes", n, s.Bytes, err)
	}
}

// TestHistoryFindsARemovedKey checks that History finds a key that one commit adds and the next one removes.
func TestHistoryFindsARemovedKey(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), "dk_"+noise()
	git := func(args ...string) {
		args = append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@example.org"}, args...)
		cmd := exec.CommandContext(t.Context(), "git", args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("run %s: %v\n%s", cmd, err, out)
		}
	}
	git("init", "--quiet")
	for _, text := range []string{"KEY=" + key + "\n", "KEY=\n"} {
		if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "--quiet", "-m", "notes")
	}
	s := secretscan.New(nil)
	if _, err := s.History(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if hits := strings.Join(s.Hits(), "\n"); !strings.Contains(hits, "notes.txt") || strings.Contains(hits, key) {
		t.Errorf("findings are %q; want notes.txt without the value of the key", hits)
	}
}
