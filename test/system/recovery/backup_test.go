package recovery

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestBackupRestores follows docs/operations.md with stopped services: it makes a dump, drops the database and restores the
// dump. All tables must contain the same rows, and the command api fsck must have the same result.
func TestBackupRestores(t *testing.T) {
	s := exclusive(t)
	fillRecord(t, s, stack.Size(t, 6, 10, 60), stack.Size(t, 8, 20, 60))
	fsck := fsckCommand(t, s)
	up := s.Down(t, "api", "clock", "hub", "hub-2")
	before := inventory(t, s, fsck)

	address, err := url.Parse(s.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	maintenance, dump := *address, filepath.Join(t.TempDir(), "backup.dump")
	maintenance.Path = "/postgres"
	postgres(t, s, "pg_dump", "--format=custom", "--file="+dump, "--dbname="+address.String())
	conn, err := pgx.Connect(t.Context(), maintenance.String())
	if err != nil {
		t.Fatal(err)
	}
	name := pgx.Identifier{strings.TrimPrefix(address.Path, "/")}.Sanitize()
	if _, err := conn.Exec(t.Context(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.DB(t).Reset() // the connections to the dropped database are unusable
	began := time.Now()
	postgres(t, s, "pg_restore", "--create", "--exit-on-error", "--dbname="+maintenance.String(), dump)
	t.Logf("%d tables restored in %v", len(before.Tables), time.Since(began))

	if diff := cmp.Diff(before, inventory(t, s, fsck)); diff != "" {
		t.Errorf("the database before the drop (-) and after the restore (+):\n%s", diff)
	}
	up()
	s.NewOperator(t).File(t, stack.Call(s.NewNativeMarket(t, 5000, nil), "YES", 5000)).Require(http.StatusOK)
}

// fillRecord lets operators file calls and notes on markets and resolves half of the markets. It waits until the
// journal contains every row.
func fillRecord(t *testing.T, s *stack.Stack, markets, operators int) {
	t.Helper()
	var ids []string
	for range markets {
		ids = append(ids, s.NewNativeMarket(t, 5000, nil))
	}
	list := s.SeedOperators(t, operators)
	stack.Each(operators, 8, func(i int) {
		for k, market := range ids {
			call := stack.SentCall{Operator: list[i], Market: market, Yes: (i+k)%3 == 0, Price: 1000 + (i*markets+k)%8000}
			a, err := call.Send(t, s.HubAt(k))
			if err != nil || a.Status != http.StatusOK {
				t.Errorf("file a call: answered %d %s, error %v", a.Status, a.Body, err)
				return
			}
			if k%6 != 0 {
				continue
			}
			event := stack.JSON{"type": "note", "payload": stack.JSON{"text": "later"}}
			a, err = list[i].Try(t, http.MethodPost, s.HubAt(k)+"/api/signals/"+a.Text("id")+"/events", stack.Bearer(list[i].Key), stack.Body(event))
			if err != nil || a.Status != http.StatusCreated {
				t.Errorf("add an event: answered %d %s, error %v", a.Status, a.Body, err)
			}
		}
	})
	for i := 0; i < markets; i += 2 {
		s.Finalize(t, ids[i], []string{"YES", "NO"}[i/2%2])
	}
	stack.Eventually(t, 30*time.Second, "every row of the record in the journal", func() bool {
		return stack.Query[int](t, s, `SELECT count(*) FROM (
				SELECT id::text AS key FROM api.signals WHERE market_id = ANY ($1)
				UNION ALL SELECT r.signal_id::text FROM api.signal_results r JOIN api.signals s ON s.id = r.signal_id WHERE s.market_id = ANY ($1)
				UNION ALL SELECT e.id::text FROM api.signal_events e JOIN api.signals s ON s.id = e.signal_id WHERE s.market_id = ANY ($1)
				UNION ALL SELECT market_id FROM api.market_resolutions WHERE market_id = ANY ($1)
			) AS rows WHERE NOT EXISTS (SELECT FROM api.journal_leaves l WHERE l.of = rows.key)`, ids) == 0
	})
}

// contents contains the values that TestBackupRestores compares: numbers of rows, digests of tables, and the result of api
// fsck.
type contents struct {
	Tables  map[string]int    // number of rows by table
	Digests map[string]string // digests of the tables of the record
	Fsck    string
}

func inventory(t *testing.T, s *stack.Stack, fsck *exec.Cmd) contents {
	t.Helper()
	c := contents{Tables: map[string]int{}, Digests: map[string]string{}}
	names := stack.Query[[]string](t, s, `SELECT array_agg(schemaname || '.' || quote_ident(tablename) ORDER BY 1)
		FROM pg_tables WHERE schemaname IN ('api', 'hub', 'clock')`)
	for _, name := range names {
		c.Tables[name] = stack.Query[int](t, s, "SELECT count(*) FROM "+name)
	}
	for _, name := range []string{"users", "signals", "signal_results", "signal_events", "market_resolutions", "journal_leaves", "operator_scores"} {
		c.Digests[name] = stack.Query[string](t, s, "SELECT coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') FROM api."+name+" t")
	}
	cmd := exec.CommandContext(t.Context(), fsck.Path, fsck.Args[1:]...)
	cmd.Env = fsck.Env
	out, err := cmd.Output()
	// fsck exits with 1 if it has found differences. Calls that other tests have inserted directly are not in the
	// journal.
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("api fsck: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	c.Fsck = strings.Join(lines, "\n")
	return c
}

// fsckCommand returns the command api fsck with the environment variables of the running api.
func fsckCommand(t *testing.T, s *stack.Stack) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(stack.Bin(t), "api"), "fsck")
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.PID(t, "api")))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00")
	return cmd
}

// postgres runs a client program of Postgres that has the version of the server.
func postgres(t *testing.T, s *stack.Stack, program string, args ...string) {
	t.Helper()
	server, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.PID(t, "postgres")))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(server), program), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("run %s: %v\n%s", program, err, out)
	}
}
