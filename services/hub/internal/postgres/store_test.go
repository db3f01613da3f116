package postgres_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/pkg/testkit"
	"github.com/signalcast/signalcast/services/hub/internal/audit"
	"github.com/signalcast/signalcast/services/hub/internal/identityclaim"
	"github.com/signalcast/signalcast/services/hub/internal/postgres"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func entry(stage audit.Stage, code string) audit.Entry {
	return audit.Entry{
		ID: uuid.Must(uuid.NewV7()).String(), At: time.Date(2026, 9, 18, 12, 0, 0, 0, time.UTC), Stage: stage, Actor: "admin",
		Action: "POST /api/resolution/dispute", Target: "701122", RequestID: "r1", IP: "192.0.2.1", Code: code,
		Detail: []byte(`{"Disputed":true}`),
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	pool := testkit.Pool(t, db.URL("hub_rw"))
	store := postgres.New(pool, testkit.ReadTime)
	if err := store.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := entry(audit.Answered, "ok")
	for _, e := range []audit.Entry{entry(audit.Asked, ""), want} {
		if err := store.Add(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	var got audit.Entry
	err := pool.QueryRow(t.Context(), `SELECT id, l.at, stage, actor, action, target, request_id, a.ip, code
		FROM audit_log l JOIN audit_addresses a ON a.audit_id = l.id AND a.at = l.at AND l.ip = '' WHERE stage = 'answered'`).
		Scan(&got.ID, &got.At, &got.Stage, &got.Actor, &got.Action, &got.Target, &got.RequestID, &got.IP, &got.Code)
	if err != nil {
		t.Fatal(err)
	}
	if got.Detail = want.Detail; !got.At.Equal(want.At) {
		t.Errorf("at %v", got.At)
	}
	got.At = want.At
	if got.ID != want.ID || got.Code != "ok" || got.Target != "701122" || got.IP != "192.0.2.1" || got.Actor != "admin" {
		t.Errorf("%+v", got)
	}
	for _, bad := range []audit.Entry{want, entry("later", "ok"), {ID: want.ID}} {
		if err := store.Add(t.Context(), bad); err == nil {
			t.Errorf("accepted: %+v", bad)
		}
	}
	for i, addresses := range []int{2, 0} {
		at := want.At.Add(time.Duration(i) * time.Microsecond)
		if err := store.DeleteAuditAddresses(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM audit_addresses`).Scan(&n); err != nil || n != addresses {
			t.Errorf("%d addresses after the deletion of those before %v, %v; want %d", n, at, err, addresses)
		}
	}
}

// TestAppendOnly checks that neither hub_rw nor the owner of the table can change entries of the audit log.
func TestAppendOnly(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, postgres.Schema(""))
	if err := postgres.New(testkit.Pool(t, db.URL("hub_rw")), testkit.ReadTime).Add(t.Context(), entry(audit.Asked, "")); err != nil {
		t.Fatal(err)
	}
	attempts := []string{
		"UPDATE audit_log SET code = 'ok'",
		"UPDATE audit_log SET at = now() WHERE target = '701122'",
		"DELETE FROM audit_log",
		"TRUNCATE audit_log",
	}
	asWriter := append([]string{
		"ALTER TABLE audit_log DISABLE TRIGGER ALL",
		"SET session_replication_role = replica",
		"DROP TABLE audit_log",
		"CREATE TABLE other (x int)",
		"ALTER TABLE audit_log OWNER TO hub_rw",
		"SET ROLE hub_migrator",
	}, attempts...)
	for _, sql := range asWriter {
		refused(t, db.URL("hub_rw"), sql)
	}
	for _, sql := range attempts {
		refused(t, db.Admin, "SET ROLE hub_migrator; SET search_path = hub; "+sql)
	}
	var rows int
	if err := testkit.Pool(t, db.URL("hub_rw")).QueryRow(t.Context(), "SELECT count(*) FROM audit_log WHERE code = ''").Scan(&rows); err != nil || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func refused(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	if err == nil {
		t.Errorf("permitted: %s", sql)
		return
	}
	if text := err.Error(); !strings.Contains(text, "42501") {
		t.Errorf("%s: %v", sql, err)
	}
}

// TestUnavailable checks that without the database a write, a read and a transaction return the same error.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	pool := testkit.Pool(t, "postgres://hub_rw:x@127.0.0.1:1/none")
	store := postgres.New(pool, testkit.ReadTime)
	_, reading := store.Pins(t.Context(), 1)
	for _, err := range []error{
		store.Add(t.Context(), entry(audit.Asked, "")), reading, store.StoreClaim(t.Context(), person(1), identityclaim.Claim{}),
	} {
		if !errors.Is(err, pg.ErrUnavailable) {
			t.Errorf("%v", err)
		}
	}
	if err := store.Ready(t.Context()); err == nil {
		t.Error("ready without a database")
	}
}

func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t)
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	newest := len(files)
	for i, want := range []pg.Migrated{{From: 0, To: newest}, {From: newest, To: newest}} {
		got, err := pg.Migrate(t.Context(), db.Admin, postgres.Schema("testkit"))
		if err != nil || got != want {
			t.Errorf("run %d: %+v, %v", i+1, got, err)
		}
	}
}
