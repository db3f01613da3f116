package clients

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/test/system/stack"
)

// signedIn returns a command line with the key of a new operator.
func signedIn(t *testing.T, s *stack.Stack, permissions ...string) (*commandLine, *stack.Operator) {
	t.Helper()
	who := s.NewOperator(t)
	p := buildCommandLine(t, s)
	p.env = append(p.env, "SIGNALCAST_ADMIN_SECRET="+s.AdminSecret)
	p.secrets = []string{who.Login, "dk_", s.AdminSecret, "dat_"}
	args := []string{"login"}
	for _, permission := range permissions {
		args = append(args, "--permission", permission)
	}
	p.run(0, who.Login, args...)
	return p, who
}

// Keys are created, used, listed and revoked; logout deletes the stored key.
func TestCommandLineKeys(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, who := signedIn(t, s, "read", "signal")
	var me struct{ Username string }
	p.read(&me, 0, "whoami")
	if me.Username != who.Handle {
		t.Errorf("whoami says %q", me.Username)
	}
	file := filepath.Join(t.TempDir(), "key")
	var minted struct{ ID string }
	out, _ := p.run(0, who.Login, "keys", "mint", "--out", file, "--label", "second")
	if err := json.Unmarshal([]byte(out), &minted); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	p.run(2, who.Login, "keys", "mint", "--out", file) // it is not overwritten
	p.run(0, "", "whoami", "--key", file)
	if table, _ := p.run(0, who.Login, "keys", "list", "--table"); !strings.Contains(table, "second") ||
		strings.Count(table, "active") != 3 {
		t.Error(table)
	}
	p.run(0, who.Login, "keys", "revoke", minted.ID)
	p.run(1, "", "whoami", "--key", file)
	p.run(1, s.NewOperator(t).Login, "keys", "revoke", minted.ID) // a key of another person

	star := s.NewOperator(t)
	table, _ := p.run(0, who.Login, "follow", star.Handle, "--table")
	if !strings.Contains(table, "Followed") || !strings.Contains(table, "You follow  1") {
		t.Error(table)
	}
	p.run(0, who.Login, "follow", star.Handle, "--undo")
	if _, bad := p.run(1, who.Login, "follow", "absent_operator"); !strings.Contains(bad, "signalcast board") {
		t.Error(bad)
	}
	p.run(0, "", "logout")
	if _, bad := p.run(2, "", "whoami"); !strings.Contains(bad, "signalcast login") {
		t.Error(bad)
	}
}

// Signed messages create a market, file a call on it and propose its outcome; an administrator finalizes it.
func TestCommandLineSigns(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, who := signedIn(t, s)
	scopes := []string{"market:create", "resolution:create", "signal:create", "signer:create", "profile:read"}
	access := who.NewApp(t, "public", scopes...).Grant(t, who.Session(t), strings.Join(scopes, " ")).Access
	app, file := secretFile(t, access), filepath.Join(t.TempDir(), "signer")
	p.run(0, "", "signer", "new", file, "--app-token", app)
	p.secrets = append(p.secrets, seedOf(t, file))
	register := []string{"signer", "register", file, "--app-token", app, "--scope", "market:create", "--scope", "resolution:create"}
	_, bad := p.run(1, "", "message", "submit", p.signed(file, "market.create", marketDraft()))
	if !strings.Contains(bad, "signer register") {
		t.Error(bad)
	}
	p.run(0, "", register...)
	if _, bad := p.run(1, "", register...); !strings.Contains(bad, "registered already") {
		t.Error(bad)
	}
	var opened struct {
		Result   struct{ MarketID string }
		Replayed bool
	}
	message := p.signed(file, "market.create", marketDraft())
	p.run(0, "", "message", "verify", message)
	p.read(&opened, 0, "message", "submit", message)
	market := opened.Result.MarketID
	if p.read(&opened, 0, "message", "submit", message); !opened.Replayed || opened.Result.MarketID != market {
		t.Errorf("again: %+v", opened)
	}
	text, err := os.ReadFile(message)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "SCIENCE", "CULTURE", 1)
	if _, bad := p.run(1, changed, "message", "verify"); !strings.Contains(bad, "bad_signature") {
		t.Error(bad)
	}
	unscoped := p.signed(file, "signal.create", stack.JSON{"marketId": market, "position": "NO"})
	if _, bad := p.run(1, "", "message", "submit", unscoped); !strings.Contains(bad, "insufficient_scope") {
		t.Error(bad)
	}
	p.run(0, "", "resolve", market, "no", "--signer", file, "--reason", "peak 5.61 m")
	p.run(1, "", "call", market, "no", "--price", "50") // provisional
	table, _ := p.run(0, "", "admin", "finalize", market, "no", "--table")
	if !strings.Contains(table, "NO on "+market) {
		t.Error(table)
	}
	p.run(0, "", "signer", "revoke", file, "--app-token", app)
	if _, bad := p.run(1, "", register...); !strings.Contains(bad, "never comes back") {
		t.Error(bad)
	}
}

// signed writes a signed payload into a file and returns its path.
func (p *commandLine) signed(signer, kind string, content stack.JSON) (path string) {
	p.t.Helper()
	raw, err := json.Marshal(content)
	if err != nil {
		p.t.Fatal(err)
	}
	out, _ := p.run(0, string(raw), "message", "sign", kind, "--signer", signer)
	path = filepath.Join(p.t.TempDir(), "message.json")
	if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// marketDraft returns the payload of a message that creates a market.
func marketDraft() stack.JSON {
	return stack.JSON{
		"question": "Will the gauge at " + rand.Text() + " read above 6 m?", "lane": "SCIENCE",
		"cutoffAt": stack.Stamp(time.Now().AddDate(0, 1, 0)),
	}
}

func seedOf(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var key struct{ Seed string }
	if json.Unmarshal(raw, &key) != nil || len(key.Seed) != 64 {
		t.Fatal("the file holds no seed")
	}
	return key.Seed
}

// Events are read once and in order, the next run continues after the last one, and Ctrl-C ends a reader without an error.
func TestCommandLineWatches(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, _ := signedIn(t, s)
	market := s.NewNativeMarket(t, 5000, nil)
	channel, state := "market:"+market, filepath.Join(t.TempDir(), "state")
	var filed struct{ ID string }
	p.read(&filed, 0, "call", market, "no", "--price", "50")
	p.run(0, "", "events", "add", filed.ID, "note", "--text", "Rain.")
	if err := os.WriteFile(state, []byte(`{"`+channel+`":0}`), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(count int) (types []string) {
		t.Helper()
		out, _ := p.run(0, "", "watch", channel, "--count", strconv.Itoa(count), "--state", state)
		for line := range strings.Lines(out) {
			var m struct {
				Kind, Type string
				Seq        int64
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if m.Kind == "event" && m.Seq > 0 {
				types = append(types, m.Type)
			}
		}
		return types
	}
	// The creation of the market and its prices are events, too.
	var got []string
	testkit.Eventually(t, 30*time.Second, func() bool {
		got = append(got, read(1)...)
		return len(got) > 0 && got[len(got)-1] == "signal.event"
	})
	if all := strings.Join(got, " "); strings.Count(all, "signal.created") != 1 || strings.Count(all, "signal.event") != 1 {
		t.Errorf("read %q", all)
	}
	p.run(0, "", "admin", "finalize", market, "no")
	got = nil
	testkit.Eventually(t, 30*time.Second, func() bool {
		got = append(got, read(1)...)
		return len(got) > 0 && got[len(got)-1] == "signal.resolved"
	})
	if all := strings.Join(got, " "); strings.Contains(all, "signal.created") || !strings.Contains(all, "market.resolved") {
		t.Errorf("then %q", all)
	}
	if _, bad := p.run(2, "", "watch", "no:such"); !strings.Contains(bad, "no such channel") {
		t.Error(bad)
	}
	p.interrupted("watch", "me", channel)
}

// interrupted runs the command until it has written a line and sends SIGINT. The exit code must be 0.
func (p *commandLine) interrupted(args ...string) {
	p.t.Helper()
	cmd := exec.Command(p.path, args...)
	cmd.Env = p.env
	var bad bytes.Buffer
	cmd.Stderr = &bad
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		p.t.Errorf("signalcast %q writes nothing: %v", args, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		p.t.Errorf("signalcast %q: %v\n%s", args, err, &bad)
	}
}

// An operator shows a market, goes live and ends it; Ctrl-C ends it too.
func TestCommandLineLive(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, who := signedIn(t, s, "read", "signal", "broadcast")
	market := s.NewNativeMarket(t, 5000, nil)
	table, _ := p.run(0, "", "live", "set", market, "--yes", "31.5", "--annotation", "rain", "--table")
	if !strings.Contains(table, "Will the gauge") {
		t.Error(table)
	}
	get(t, s.Hub+"/api/streamer/signal?handle="+who.Handle).Require(200).
		Expect(stack.JSON{"marketId": market, "yesPct": 31.5, "annotation": "rain"})
	p.run(0, "", "live", "on", "--market", market, "--count", "1")
	state := func() any {
		return get(t, s.Hub+"/api/streamer/stream/state?handle="+who.Handle).Require(200).Value("showId")
	}
	p.interrupted("live", "on", "--market", market)
	if got := state(); got != nil {
		t.Errorf("after Ctrl-C the session %v is open", got)
	}
	p.run(0, "", "live", "off")
	p.run(0, "", "live", "clear")
	var me struct{ Live bool }
	if p.read(&me, 0, "live", "me"); me.Live {
		t.Error("still live")
	}
}

// Markets are created, disputed, cleared, and resolved once.
func TestCommandLineAdmin(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, _ := signedIn(t, s)
	var opened struct{ MarketID string }
	p.read(&opened, 0, "admin", "market", "create", "Will the bridge open in time?", "--lane", "SCIENCE", "--yes", "30",
		"--cutoff", time.Now().AddDate(0, 2, 0).UTC().Format(time.RFC3339))
	market := opened.MarketID
	get(t, s.Hub+"/api/m/"+market).Require(200).Expect(stack.JSON{"yesBps": 3000})
	p.run(0, "", "admin", "dispute", market, "--reason", "two sources differ")
	if _, bad := p.run(1, "", "admin", "finalize", market, "yes"); !strings.Contains(bad, "--clear") {
		t.Error(bad)
	}
	p.run(0, "", "admin", "dispute", market, "--clear")
	p.run(0, "", "admin", "force", market, "invalid")
	if _, bad := p.run(1, "", "admin", "force", market, "yes"); !strings.Contains(bad, "already_resolved") {
		t.Error(bad)
	}
	_, bad := p.run(1, "", "admin", "scan", "--secret-file", secretFile(t, "another secret"))
	if !strings.Contains(bad, "SIGNALCAST_ADMIN_SECRET") {
		t.Error(bad)
	}
}
