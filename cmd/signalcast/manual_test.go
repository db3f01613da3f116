package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestManPage checks that the man page contains the commands and only known roff macros. If groff or mandoc is installed, it
// must report no warning.
func TestManPage(t *testing.T) {
	d := newShell(t)
	out, _ := d.run(done, "man")
	d.requireContains(out, `.SS "conform URL"`, `.SS "watch [CHANNELS...]"`, `.SS "admin market create QUESTION"`,
		`.B \-\-admin\-secret=FILE`, ".SH EXIT STATUS", "SIGNALCAST_ADMIN_SECRET")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, ".") &&
			!slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".B", ".I"}, strings.Fields(line)[0]) || strings.Contains(line, "${") {
			t.Errorf("the line has an unknown macro or a kong variable: %q", line)
		}
	}
	for _, tool := range [][]string{{"groff", "-man", "-Tutf8", "-ww", "-z"}, {"mandoc", "-Tlint", "-Wwarning"}} {
		path, err := exec.LookPath(tool[0])
		if err != nil {
			continue
		}
		cmd := exec.Command(path, tool[1:]...)
		cmd.Stdin = strings.NewReader(out)
		if said, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(said)) > 0 {
			t.Errorf("%s: %v\n%s", tool[0], err, said)
		}
	}
}

// TestCompletion checks the words that the bash completion offers. For fish and zsh it checks the syntax of the scripts, if the
// shells are installed.
func TestCompletion(t *testing.T) {
	d := newShell(t)
	script, _ := d.run(done, "completion", "bash")
	for typed, want := range map[string][]string{
		"":                    {"admin", "board", "call", "watch"},
		"mark":                {"market"},
		"market ":             {"crowd", "search", "show"},
		"admin market ":       {"create"},
		"call 701122 ":        {"--price", "--take"},
		"board --by ":         {"broadcast", "score"},
		"market search --lan": {"--lane"},
		"completion ":         {"bash", "fish", "zsh"},
		"events add x ":       {"note", "reaffirm", "take"},
		"keys mint --perm":    {"--permission"},
	} {
		words := append([]string{"signalcast"}, strings.Split(typed, " ")...)
		cmd := exec.Command("bash", append([]string{"-c", script + `
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _signalcast; printf '%s\n' "${COMPREPLY[@]}"`, "bash"}, words...)...)
		got, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
		offered := strings.Fields(string(got))
		for _, w := range want {
			if !slices.Contains(offered, w) {
				t.Errorf("after %q bash offers %q, want also %s", typed, offered, w)
			}
		}
		if typed == "mark" && len(offered) != 1 || typed == "board --by " && len(offered) != 2 {
			t.Errorf("after %q bash offers other words: %q", typed, offered)
		}
	}
	fish, _ := d.run(done, "completion", "fish")
	d.requireContains(fish, "complete -c signalcast -n '__fish_use_subcommand' -f -a 'conform'", "-l price -r",
		`'__fish_seen_subcommand_from market; and not __fish_seen_subcommand_from`)
	zsh, _ := d.run(done, "completion", "zsh")
	d.requireContains(zsh, "#compdef signalcast", "bashcompinit")
	for _, shell := range []string{"fish", "zsh"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		cmd := exec.Command(path, "-n", "/dev/stdin")
		cmd.Stdin = strings.NewReader(map[string]string{"fish": fish, "zsh": zsh}[shell])
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, said)
		}
	}
	d.run(usage, "completion", "tcsh")
}

func TestVersion(t *testing.T) {
	d := newShell(t)
	out, _ := d.run(done, "version")
	if !regexp.MustCompile(`(?m)^Protocol +1\.9$`).MatchString(out) {
		t.Errorf("the output does not contain the version of the contract: %s", out)
	}
	out, _ = d.run(done, "--version")
	if !regexp.MustCompile(`^signalcast \S+ \(commit \S+, go1\.\S+\)\n$`).MatchString(out) {
		t.Errorf("--version prints %q", out)
	}
	out, _ = d.run(done, "version", "--json")
	d.requireContains(out, `"contract": "1.9"`, `"go": "go1.`)
}
