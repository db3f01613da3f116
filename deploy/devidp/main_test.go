package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain runs the program instead of the tests if DEVIDP_TEST_PROGRAM is 1.
func TestMain(m *testing.M) {
	if os.Getenv("DEVIDP_TEST_PROGRAM") == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestNeverInProduction checks that the program exits with 2 outside development and test, and with a setting of a real
// identity provider. It must name the reason and must not print the value of the setting.
func TestNeverInProduction(t *testing.T) {
	t.Parallel()
	for env, words := range map[string]string{
		"ENV=production":          "signs in any name",
		"ENV=":                    "signs in any name",
		"PRIVY_APP_SECRET=c4narY": "does not run together with a real identity provider",
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = []string{"DEVIDP_TEST_PROGRAM=1", "ENV=development", "HTTP_ADDR=127.0.0.1:0", "IDP_STATE_DIR=" + t.TempDir(), env}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), words) || strings.Contains(string(out), "c4narY") {
			t.Errorf("%s: exit %v with output %s; want code 2 and %q", env, err, out, words)
		}
	}
}
