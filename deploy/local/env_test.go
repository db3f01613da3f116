package main

import (
	"bytes"
	"os/exec"
	"testing"
)

func TestEnvWithoutStack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := (&envCmd{Dir: dir}).Run()
	if want := "no stack runs in " + dir + "; run make up"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestEnvIsQuoted(t *testing.T) {
	t.Parallel()
	var line bytes.Buffer
	if err := printEnv(&line, stack{Hub: "http://127.0.0.1:1", AdminSecret: `it's $HOME; "a" b`, CronSecret: "`x`"}); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", "eval \"$1\"; printf '%s|%s|%s' \"$HUB\" \"$ADMIN_SECRET\" \"$CRON_SECRET\"", "sh", line.String()).Output()
	if err != nil || string(out) != "http://127.0.0.1:1|it's $HOME; \"a\" b|`x`" {
		t.Errorf("the shell read %s, %v; want the values unchanged", out, err)
	}
}
