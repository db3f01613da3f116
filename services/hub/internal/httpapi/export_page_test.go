package httpapi_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalcast/signalcast/services/api/apitest"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/reads"
)

var exportLink = regexp.MustCompile(`href="(/settings/export/[0-9a-f-]{36})"`)

// startExport requests an export with the session of mara_k and returns its address.
func (b *fixture) startExport() string {
	b.t.Helper()
	want(b.t, b.post("/settings/export", url.Values{}, b.bySession()), http.StatusSeeOther, "", "Location: /settings?done=export")
	link := exportLink.FindStringSubmatch(b.send("GET", "/settings?done=export", "", b.bySession()).Body.String())
	if link == nil {
		b.t.Fatal("the page has no link to the export")
	}
	return link[1]
}

// unzip returns the files of an archive by name.
func unzip(t testing.TB, w *answer) map[string]string {
	t.Helper()
	want(t, w, 200, "", "Content-Type: application/zip", "Cache-Control: no-store")
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	must(t, err)
	files := map[string]string{}
	for _, f := range z.File {
		if f.Modified.Year() != 2026 {
			t.Errorf("%s is dated %s, want the time of the export", f.Name, f.Modified)
		}
		r, err := f.Open()
		must(t, err)
		text, err := io.ReadAll(r)
		must(t, err)
		files[f.Name] = string(text)
	}
	return files
}

// TestExport checks that a forecaster downloads the stored data of the account, without secrets and without texts of others, on the
// device that asked and once a day.
func TestExport(t *testing.T) {
	t.Parallel()
	b := withPages(t)
	tide := b.ledger.AddOperator("tide")
	other := with("Authorization", "Bearer "+b.ledger.AddKey(tide.GetId()))
	call := func(take string, by header) string {
		w := b.send("POST", "/api/predictions", `{"marketId":"`+marketID+`","direction":"YES","priceAtPrediction":3200,"textTake":"`+take+`"}`, by)
		want(t, w, 200, "")
		return field(w, "id")
	}
	call("planted by tide", other)
	id := call("=planted take", b.byKey())
	want(t, b.send("POST", "/api/signals/"+id+"/events", `{"type":"note","payload":{"text":"planted note"}}`, b.byKey()), 201, "")
	want(t, b.post("/u/tide/follow", url.Values{}, b.bySession()), http.StatusSeeOther, "")
	want(t, b.post("/m/"+marketID+"/watch", url.Values{"watch": {"yes"}}, b.bySession()), http.StatusSeeOther, "")
	b.ledger.Exec(`INSERT INTO webhooks (id, user_id, url, channels, types, created_at, secret, taken)
		VALUES (gen_random_uuid(), $1, 'https://hook.example/planted', '{all}', '{}', now(), 'sealed', 0)`, b.mara.GetId())

	address := b.startExport()
	want(t, b.post("/settings/export", url.Values{}, b.bySession()), 429, "", "once in 24 hours", "19 Sep 2026")
	files := unzip(t, b.send("GET", address, "", b.bySession()))
	for name, text := range map[string]string{
		"README.txt": "@mara_k", "calls.jsonl": `"textTake":"=planted take"`, "calls.csv": "'=planted take", "account.jsonl": `"handle" : "mara_k"`,
		"api_keys.csv": "id,prefix,last4,label", "webhooks.jsonl": "https://hook.example/planted", "following.jsonl": tide.GetId(),
		"watched_markets.csv": "marketId,createdAt\r\n" + marketID, "sessions.jsonl": "signedInAt", "exports.jsonl": address[len("/settings/export/"):],
	} {
		if !strings.Contains(files[name], text) {
			t.Errorf("%s does not contain %q: %.300s", name, text, files[name])
		}
	}
	for name, text := range files {
		for _, never := range []string{"planted by tide", b.key, "sealed", "hash"} {
			if strings.Contains(text, never) && name != "README.txt" {
				t.Errorf("%s contains %q", name, never)
			}
		}
		if ending := strings.TrimSuffix(name, ".jsonl"); ending != name && ending != "calls" {
			rows, err := csv.NewReader(strings.NewReader(files[ending+".csv"])).ReadAll()
			if must(t, err); len(rows) != strings.Count(text, "\n")+1 {
				t.Errorf("%s has %d rows as CSV and %d as JSON lines", ending, len(rows), strings.Count(text, "\n"))
			}
		}
	}
	if !strings.Contains(files["calls.jsonl"], "planted note") {
		t.Error("the calls have no events")
	}

	for name, who := range map[string]header{"another device": with("Cookie", b.signIn(b.mara)), "another account": with("Cookie", b.signIn(tide))} {
		want(t, b.send("GET", address, "", who).as(name), 404, "")
	}
	b.clock.Advance(15*time.Minute + time.Second)
	want(t, b.post("/settings/export", url.Values{}, b.bySession()), 403, "", "Nothing was changed.", ">Sign in again<")
	b.clock.Advance(24 * time.Hour)
	want(t, b.send("GET", address, "", b.bySession()), 404, "")
	b.cookie = b.signIn(b.mara)
	if b.startExport() == address {
		t.Error("the next export has the address of the last one")
	}
}

// TestExportOfManyCalls checks that the export of an operator with several pages of calls and messages is complete, and measures it.
func TestExportOfManyCalls(t *testing.T) {
	t.Parallel()
	const calls = 1_500
	b := withPages(t)
	b.ledger.Exec(`INSERT INTO signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified, created_at, market_title, text_take, source)
		SELECT gen_random_uuid(), (2000000 + n)::text, $1, true, 5000, 5000, false, $3::timestamptz - n * interval '1 minute', 'Will it rain?', repeat('x', 200), 'api'
		FROM generate_series(1, $2) n`, b.mara.GetId(), calls, b.clock.Now())
	b.ledger.Exec(`INSERT INTO hub.messages (id, type, denpa_id, public_key, nonce, body, attested, status, attempt, received_at, tried_at, accepted_at)
		SELECT 'msg_' || encode(sha256(n::text::bytea), 'hex'), 'prediction.create', $1, repeat('a', 64), 'nonce-nonce-nonce-' || n, repeat('x', 800), true, 'accepted',
			gen_random_uuid(), now(), now(), now() FROM generate_series(1, $2) n`, b.mara.GetId(), calls)
	address := b.startExport()
	start := time.Now()
	w := b.send("GET", address, "", b.bySession())
	took := time.Since(start)
	files := unzip(t, w)
	for name, lines := range map[string]int{"calls.jsonl": calls + 2, "calls.csv": calls + 2, "messages.jsonl": calls, "messages.csv": calls + 1} {
		if n := strings.Count(files[name], "\n"); n != lines {
			t.Errorf("%s has %d lines, want %d", name, n, lines)
		}
	}
	t.Logf("%d kB in %v", w.Body.Len()>>10, took)
}

// TestExportIsComplete checks that the export has every table with rows of an account, and that the lists of sections are those of
// the views.
func TestExportIsComplete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	without := map[string]string{
		"access_tokens": "hashes", "auth_codes": "hashes", "auth_requests": "hashes", "app_tokens": "hashes", "signer_challenges": "hashes",
		"signals": "calls", "signal_results": "calls", "moments": "computed from calls", "board_rows": "computed", "board_due": "computed",
		"board_viewers_due": "computed", "operator_tallies": "computed", "operator_totals": "computed", "operator_scores": "computed",
		"operator_lane_scores": "computed", "operator_aged": "computed", "skilled_operators": "computed", "operator_takes": "computed", "viewer_reports": "computed",
		"follow_totals": "computed", "protocol_events": "copies of calls", "outbox": "events that wait", "message_effects": "copies of messages",
		"spotlight": "copy of a broadcast", "market_live": "copy of streams", "notification_fanouts": "events that wait",
		"attestations_due": "events that wait", "score_drains": "computed", "former_accounts": "references to deleted accounts",
		"push_messages": "copies of notifications", "email_messages": "letters that wait", "handle_changes": "changes that wait",
		"email_addresses": "exported with the decrypted address",
	}
	for schema, sections := range map[string][]string{"hub": account.Sections, "api": reads.LedgerSections} {
		view := apitest.Get[string](b.ledger, `SELECT pg_get_viewdef(($1 || '.personal_rows')::regclass)`, schema)
		if n := strings.Count(view, "UNION ALL") + 1; n != len(sections) {
			t.Errorf("%s: %d sections in the view, %d in the list", schema, n, len(sections))
		}
		for _, section := range sections {
			if !strings.Contains(view, "'"+section+"'::text") {
				t.Errorf("%s: the view has no section %s", schema, section)
			}
		}
		tables := apitest.Get[[]string](b.ledger, `SELECT array_agg(DISTINCT table_name::text) FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
			WHERE table_schema = $1 AND column_name IN ('user_id', 'handle', 'owner', 'owner_id', 'denpa_id', 'reporter', 'follower', 'created_by', 'proposed_by')
			AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'protocol_events\_%'`, schema)
		tables = slices.DeleteFunc(tables, func(name string) bool { return without[name] != "" })
		for _, table := range tables {
			if !regexp.MustCompile(`\b` + table + `\b`).MatchString(view) {
				t.Errorf("%s.%s has rows of accounts, but is not exported", schema, table)
			}
		}
	}
}
