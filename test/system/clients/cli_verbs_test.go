package clients

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// signedIn returns a command line with the key of a new operator, and the operator.
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

// TestCommandLineKeys checks the commands that mint, list and revoke keys, and that logout deletes the stored key.
func TestCommandLineKeys(t *testing.T) {
	t.Parallel()
	s := system(t)
	p, who := signedIn(t, s, "read", "signal")
	var me struct{ Username string }
	p.read(&me, 0, "whoami")
	if me.Username != who.Handle {
		t.Errorf("whoami shows the name %q; want the name of the operator", me.Username)
	}
	file := filepath.Join(t.TempDir(), "key")
	var minted struct{ ID string }
	out, _ := p.run(0, who.Login, "keys", "mint", "--out", file, "--label", "second")
	if err := json.Unmarshal([]byte(out), &minted); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v, error %v", info, err)
	}
	p.run(2, who.Login, "keys", "mint", "--out", file) // the file is not overwritten
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

// TestCommandLineSigns checks the commands that sign messages. They create a market, file a call on it and propose its outcome.
// An administrator then finalizes the outcome.
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
	if _, bad := p.run(1, "", register...); !strings.Contains(bad, "already registered") {
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
		t.Errorf("the repeated message: %+v; want the first result", opened)
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
	p.run(1, "", "call", market, "no", "--price", "50") // refused: the market is provisional
	table, _ := p.run(0, "", "admin", "finalize", market, "no", "--table")
	if !strings.Contains(table, "NO on "+market) {
		t.Error(table)
	}
	p.run(0, "", "signer", "revoke", file, "--app-token", app)
	if _, bad := p.run(1, "", register...); !strings.Contains(bad, "cannot be registered again") {
		t.Error(bad)
	}
}

// signed signs a payload, writes the message to a file and returns its path.
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
		t.Fatal("the key file contains no seed")
	}
	return key.Seed
}

// TestCommandLineLive checks the commands with which an operator selects a market, goes live and ends the session.
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
	p.run(0, "", "live", "off")
	p.run(0, "", "live", "clear")
	var me struct{ Live bool }
	if p.read(&me, 0, "live", "me"); me.Live {
		t.Error("the operator is still live after the end of the session")
	}
}

// TestCommandLineAdmin checks the commands of administrators: they create a market, dispute it, clear the dispute, and
// resolve it once.
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
