package app

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/pkg/config"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/clock/internal/postgres"
	"github.com/signalcast/signalcast/services/clock/internal/program"
)

// command runs the clock command with args in this process and returns its exit code and output.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Program().Main(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestCommandLine(t *testing.T) {
	for _, name := range []string{"DATABASE_URL", "API_ADDR", "LINK_SECRET", "MIGRATE_DATABASE_URL", "DB_RW_PASSWORD"} {
		t.Setenv(name, "")
	}
	for line, want := range map[string]string{
		"unknown":                               "usage: clock",
		"serve now":                             "usage: clock",
		"serve":                                 "DATABASE_URL is not set",
		"":                                      "LINK_SECRET is not set",
		"migrate":                               "DB_RW_PASSWORD is not set",
		"timeline":                              "--at must be",
		"timeline --at noon":                    "--at must be",
		"timeline --at 2026-09-18T12:00:00Z x":  "usage: clock",
		"timeline --minutes 0":                  "--minutes from 1",
		"timeline --at 2026-09-18T12:00:00Z -x": "not defined: -x",
		`timeline --at 2026-09-18T12:00:00Z -spec [`: "spec must be a JSON object",
	} {
		code, out, errs := command(t, strings.Fields(line)...)
		if code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("clock %s: %d, %q, want 2 and %q", line, code, errs, want)
		}
	}
	for _, line := range []string{"timeline --at 2026-09-18T12:00:00Z", "timeline --at 2026-09-18T12:00:00Z --preset hot"} {
		if code, _, errs := command(t, strings.Fields(line)...); code != 1 || errs == "" {
			t.Errorf("clock %s: %d, %q", line, code, errs)
		}
	}
}

// TestUnsafeConfigDoesNotStart checks that the error for an unsafe setting names the setting and does not contain its value.
func TestUnsafeConfigDoesNotStart(t *testing.T) {
	t.Parallel()
	const secret, canary = "xq7Lr0Vb2mZt9Kc4Wn6Yd1Hs8Pf3Ga5J", "c4narY"
	good := map[string]string{
		"ENV": "production", "DATABASE_URL": "postgres://clock_rw@db.internal/signalcast", "API_ADDR": "api.internal:9081", "LINK_SECRET": secret,
	}
	if _, err := config.LoadFrom[Config](good); err != nil {
		t.Fatal(err)
	}
	for setting, value := range map[string]string{
		"LINK_SECRET": "short-" + canary, "TRUSTED_PROXIES": "0.0.0.0/0", "METRICS_ADDR": "[::]:9100", "ENV": "staging-" + canary,
	} {
		environ := maps.Clone(good)
		environ[setting] = value
		_, err := config.LoadFrom[Config](environ)
		if err == nil || !strings.Contains(err.Error(), setting) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s=%s: error %v; want one that names the setting without its value", setting, value, err)
		}
	}
}

func TestMigrateTwice(t *testing.T) {
	db := testkit.Postgres(t)
	t.Setenv("MIGRATE_DATABASE_URL", db.Admin)
	t.Setenv("DB_RW_PASSWORD", "testkit")
	for _, want := range []string{"schema clock: version 4, was 0\n", "schema clock: version 4, was 4\n"} {
		if code, out, errs := command(t, "migrate"); code != 0 || out != want {
			t.Errorf("migrate: %d, %q, %q, want %q", code, out, errs, want)
		}
	}
}

func TestTimeline(t *testing.T) {
	db := testkit.Postgres(t, postgres.Schema(""))
	l := newLedger(t, open("1", "sports"), open("2", "sports"), open("3", "crypto"))
	t.Setenv("DATABASE_URL", db.URL("clock_rw"))
	t.Setenv("API_ADDR", l.addr)
	t.Setenv("LINK_SECRET", linkSecret)
	at := time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC)
	k := program.SlotAt(at)
	var changes []program.Change
	for d := range program.Slot(4) {
		for _, lane := range []program.Lane{"tv", "music"} {
			changes = append(changes, program.Change{Entry: program.Entry{Lane: lane, Slot: k + d, Market: "7", Title: "Seven?"}})
		}
	}
	store := postgres.New(testkit.Pool(t, db.URL("clock_rw")), testkit.ReadTime)
	if _, err := store.ApplySlots(context.Background(), program.DefaultChannel, changes, at); err != nil {
		t.Fatal(err)
	}
	// run executes the timeline command twice and fails the test unless both outputs are equal.
	run := func(args ...string) string {
		t.Helper()
		args = append([]string{"timeline", "--at", protocol.Stamp(at), "--minutes", "10"}, args...)
		code, out, errs := command(t, args...)
		again, same, _ := command(t, args...)
		if code != 0 || again != 0 || out != same {
			t.Fatalf("%v: %d %d %q\n%s\n%s", args, code, again, errs, out, same)
		}
		return out
	}
	testkit.Golden(t, "timeline.txt", []byte(run()))
	testkit.Golden(t, "timeline_tv.txt", []byte(run("--lane", "tv")))
	testkit.Golden(t, "timeline_hot.txt", []byte(run("--preset", "hot", "--lane", "SPORT")))
	testkit.Golden(t, "timeline_spec.txt", []byte(run("--spec", `{"categories":["crypto"]}`)))
}
