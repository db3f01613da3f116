package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain is the program itself when a test starts it so.
func TestMain(m *testing.M) {
	if os.Getenv("DEVIDP_TEST_PROGRAM") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestNeverInProduction: outside development and test, and beside a real provider,
// the program ends at once and says why.
func TestNeverInProduction(t *testing.T) {
	t.Parallel()
	for env, words := range map[string]string{
		"ENV=production":          "signs in anybody",
		"ENV=":                    "signs in anybody",
		"PRIVY_APP_SECRET=c4narY": "does not run beside a real identity provider",
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = []string{"DEVIDP_TEST_PROGRAM=1", "ENV=development", "HTTP_ADDR=127.0.0.1:0", "IDP_STATE_DIR=" + t.TempDir(), env}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), words) || strings.Contains(string(out), "c4narY") {
			t.Errorf("%s: %v %s", env, err, out)
		}
	}
}
