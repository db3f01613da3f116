package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// advice matches the last sentence of an error text, which says what to do.
var advice = regexp.MustCompile("^(See signalcast( [a-z]+)* --help|Find the id with `signalcast market search`|" +
	"Find a handle with `signalcast board`|Check |The request is too long: shorten the arguments)")

// requireAdvice fails the test unless an error text is one line of printable characters, has at most 700 bytes, and ends with
// advice.
func requireAdvice(t *testing.T, args []string, bad string) {
	t.Helper()
	line, rest, whole := strings.Cut(strings.TrimPrefix(bad, "signalcast: "), "\n")
	sentences := strings.Split(line, ". ")
	if last := sentences[len(sentences)-1]; !whole || rest != "" || !advice.MatchString(last) {
		t.Errorf("%.60q: the error does not end with what to do: %.300q", args, bad)
	}
	if len(bad) > 700 || strings.ContainsAny(line, "\x07\x1b") {
		t.Errorf("%.60q: the error has %d bytes, want at most 700 and no control characters: %.300q", args, len(bad), bad)
	}
}

// leaves returns the commands that have no subcommands. The keys are their full names, for example "market show".
func leaves(t *testing.T) map[string]*kong.Node {
	t.Helper()
	var cli commands
	parser, err := kong.New(&cli, kong.Name("signalcast"), kong.Vars{"lanes": lanes})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*kong.Node{}
	for _, n := range parser.Model.Leaves(true) {
		all[strings.TrimPrefix(n.Path(), "signalcast ")] = n
	}
	if len(all) < 30 {
		t.Fatalf("%d commands, want at least 30", len(all))
	}
	return all
}

// validArgument returns a valid value for a required argument or flag.
func validArgument(d *shell, v *kong.Value) string {
	good := map[string]string{
		"side": "no", "verdict": "no", "outcome": "no", "signal": signalID, "id": signalID, "url": "http://127.0.0.1:1",
		"handle": "mara_k", "market": "701122", "path": "/api/m/1", "forward-to": "http://127.0.0.1:1", "secret": filepath.Join(d.home, "none"), "cutoff": "2027-06-01T00:00:00Z", "lane": "SCIENCE", "scope": "signal:create",
		"signer": filepath.Join(d.home, "none"), "out": filepath.Join(d.home, "out"),
	}
	if v.Enum != "" && v.Name != "lane" {
		return strings.Split(v.Enum, ",")[0]
	}
	if g := good[v.Name]; g != "" {
		return g
	}
	return "x"
}

// TestEveryArgument gives each argument of each command invalid values: an empty text, 100,000 characters, a negative number, and
// control characters. Each must be refused with advice and without a request.
func TestEveryArgument(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(http.StatusOK, `{}`))
	t.Setenv("SIGNALCAST_HUB", hub.URL)
	t.Setenv("SIGNALCAST_API", hub.URL)
	n := 0
	for name, leaf := range leaves(t) {
		var flags []string
		for _, f := range leaf.Flags {
			if f.Required {
				flags = append(flags, "--"+f.Name, validArgument(d, f.Value))
			}
		}
		for i := range leaf.Positional {
			for _, wrong := range []string{"", strings.Repeat("é", 100_000), "-1", "a\x07b", "a\nb\x1b[2J"} {
				args := strings.Fields(name)
				for j, p := range leaf.Positional {
					if j == i {
						args = append(args, wrong)
					} else if j < i || p.Required {
						args = append(args, validArgument(d, p))
					}
				}
				args = append(args, flags...)
				_, bad := d.run(usage, args...)
				requireAdvice(t, args, bad)
				n++
			}
		}
	}
	if n < 100 || len(hub.requests) > 0 {
		t.Errorf("%d invalid arguments, want at least 100; %d requests, want 0", n, len(hub.requests))
	}
}

// TestEveryFlag gives each flag wrong values, which the command must refuse: a text of 100,000 characters, an empty file name
// or address, and a negative number. The flags that almost all commands have (hub, api, key) are tested with one command.
func TestEveryFlag(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(http.StatusOK, `{}`))
	t.Setenv("SIGNALCAST_HUB", hub.URL)
	t.Setenv("SIGNALCAST_API", hub.URL)
	numbers, shared := 0, map[string]bool{"hub": false, "api": false, "key": false}
	for name, leaf := range leaves(t) {
		for _, f := range leaf.Flags {
			tried, isShared := shared[f.Name]
			if f.IsBool() || tried {
				continue
			}
			if isShared {
				shared[f.Name] = true
			}
			wrong := []string{strings.Repeat("x", 100_000)}
			if f.Tag.Type == "path" || f.PlaceHolder == "FILE" || f.PlaceHolder == "URL" {
				wrong = append(wrong, "")
			}
			kind := f.Target.Type()
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			number := kind.Kind() == reflect.Int || kind.Kind() == reflect.Float32
			if number {
				wrong, numbers = append(wrong, "-1", "-0.5", "a\x07b", ""), numbers+1
			}
			for _, value := range wrong {
				args := strings.Fields(name)
				for _, p := range leaf.Positional {
					args = append(args, validArgument(d, p))
				}
				for _, other := range leaf.Flags {
					if other.Required && other.Name != f.Name {
						args = append(args, "--"+other.Name, validArgument(d, other.Value))
					}
				}
				for _, args := range [][]string{
					slices.Concat(args, []string{"--" + f.Name, value}), slices.Concat(args, []string{"--" + f.Name + "=" + value}),
				} {
					_, bad := d.run(usage, args...)
					requireAdvice(t, args, bad)
					if number && value != "" && !strings.Contains(bad, f.Name) && len(value) < 100 {
						t.Errorf("%q: the error does not name the flag: %s", args, bad)
					}
				}
			}
		}
	}
	if numbers < 8 || len(hub.requests) > 0 {
		t.Errorf("%d flags with numbers, want at least 8; %d requests, want 0", numbers, len(hub.requests))
	}
}

// TestErrorsSayWhatToDo checks the exit code and the last sentence of errors of the command line and of services.
func TestErrorsSayWhatToDo(t *testing.T) {
	d := newShell(t)
	t.Setenv("SIGNALCAST_KEY", key)
	hub := serve(t, respond(http.StatusNotFound, `{"error":"not_found"}`))
	down := serve(t, respond(http.StatusServiceUnavailable, `{"error":"db_unavailable"}`))
	big := serve(t, respond(http.StatusRequestHeaderFieldsTooLarge, `431 Request Header Fields Too Large`))
	odd := serve(t, respond(http.StatusTeapot, `{"error":"unknown_code"}`))
	for _, c := range []struct {
		want int
		at   *server
		ends string
		args []string
	}{
		{usage, hub, "; find a handle with `signalcast board`. See signalcast record get --help", []string{"record", "get", "unknown_handle"}},
		{unavailable, down, "Try again in a moment", []string{"record", "get", "mara_k"}},
		{usage, hub, "an argument must not be empty. See signalcast call --help", []string{"call", "", "no"}},
		{usage, hub, "an argument must not be empty. See signalcast watch --help", []string{"watch", ""}},
		{
			usage, hub, "an argument has 100000 characters; the limit is 4096. See signalcast market show --help",
			[]string{"market", "show", strings.Repeat("x", 100_000)},
		},
		{refused, big, "The request is too long: shorten the arguments", []string{"market", "show", "x"}},
		{
			usage, hub, "--price: a price must be in cents, 0 to 100, with at most two decimals, like 68.5. See signalcast call --help",
			[]string{"call", "701122", "no", "--price", "-1"},
		},
		{usage, hub, "-1: a negative number is not allowed here. See signalcast market show --help", []string{"market", "show", "-1"}},
		{
			usage, hub, "--confidence must be 1 to 100. See signalcast call --help",
			[]string{"call", "701122", "no", "--price", "5", "--confidence", "-1"},
		},
		{
			usage, hub, "no space. See signalcast call --help",
			[]string{"call", "701122", "no", "--price", "5", "--idempotency-key", "a\nb"},
		},
		{usage, hub, "-o must not be empty. See signalcast record get --help", []string{"record", "get", "mara_k", "-o", ""}},
		{usage, hub, "--api must not be empty. See signalcast board --help", []string{"board", "--api", ""}},
		{usage, hub, "--hub must not be empty. See signalcast whoami --help", []string{"whoami", "--hub="}},
		{usage, hub, "--key must not be empty. See signalcast whoami --help", []string{"whoami", "--key", ""}},
		{usage, hub, "See signalcast --help", []string{"sing"}},
		{usage, hub, "See signalcast market --help", []string{"market", "sing"}},
		{refused, odd, "See signalcast events list --help", []string{"events", "list", signalID}},
	} {
		_, bad := d.run(c.want, append(c.args, "--hub", c.at.URL)...)
		if end := fmt.Sprintf("%s\n", c.ends); !strings.HasSuffix(bad, end) {
			t.Errorf("%.60q: the error does not end with %q: %.400s", c.args, c.ends, bad)
		}
	}
	t.Setenv("SIGNALCAST_HUB", serve(t, respond(http.StatusOK, `{"markets":[],"count":0}`)).URL)
	out, _ := d.run(done, "market", "search", "--limit", "5", "--", "-1") // after -- the argument is not a flag
	d.requireContains(out, "No market")
}
