package system

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/test/system/stack"
)

// TestCallFactsComeFromTheLedger checks that title, crowd and price of a call come from the ledger, regardless of the values
// that the caller sends (guarantee P10).
func TestCallFactsComeFromTheLedger(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	m := s.NewVenueMarket(t, "polymarket", 0.785, nil)
	m.Read(t)
	o := s.NewOperator(t)
	const invented = "Will <b>Bitcoin</b> fall below $10,000 in 2026?"
	a := o.File(t, stack.JSON{
		"marketId": m.ID, "direction": "YES", "priceAtPrediction": 1, "crowdYesAtSignal": 10, "timeToResolution": 315360000, "reach": 99999999,
		"marketTitle": invented,
	}).Require(http.StatusOK)
	id := a.Text("id")
	call := s.Signal(t, id)
	call.Expect(stack.JSON{"marketTitle": m.Title, "priceAtPrediction": 1, "crowdYesAtSignal": 10, "timeToResolution": 315360000})
	if at := call.Int("marketYesAtSignal"); at < 7800 || at > 7900 {
		t.Errorf("marketYesAtSignal is %d; want about 7850", at)
	}
	if basis := call.Int("scoreBasisBps"); basis < 7850 {
		t.Errorf("the scoring price is %d; want at least 7850", basis)
	}
	for _, url := range []string{
		s.Hub + "/u/" + o.Handle, s.Hub + "/api/signals/feed?limit=100", s.Hub + "/api/signals/" + id, s.Hub + "/api/embed/signal/" + id,
		s.Hub + "/api/network/field-record/" + o.Handle, a.Text("receiptUrl"), s.API + "/api/v1/feed?limit=500",
	} {
		if page := stack.Get(t, url); page.Contains("Bitcoin") {
			t.Errorf("%s shows the title that the caller sent; want the title of the venue", url)
		}
	}
	page := stack.Send(t, http.MethodGet, a.Text("receiptUrl")).Require(http.StatusOK)
	for _, invented := range []string{"+99", ">0.1%", " 0.1%"} {
		if page.ShowsText(invented) {
			t.Errorf("the receipt shows %q, which only the caller sent", invented)
		}
	}
}

// TestServiceRoleCannotInsertBackdatedCalls checks that the database role of the api cannot insert a call with another time
// than the current one, or a call on a resolved market (guarantee P12).
func TestServiceRoleCannotInsertBackdatedCalls(t *testing.T) {
	t.Parallel()
	s := ledgerStack(t)
	o := s.NewOperator(t)
	open, resolved := s.NewNativeMarket(t, 5000, nil), s.NewNativeMarket(t, 5000, nil)
	s.Finalize(t, resolved, "YES")
	conn, err := pgx.Connect(t.Context(), s.ServiceDatabase(t, "api"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	for _, tc := range []struct {
		name, market string
		at           time.Time
		allowed      bool
	}{
		{"with a time years ago", open, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), false},
		{"with a time two minutes ago", open, time.Now().Add(-2 * time.Minute), false},
		{"with a time in two minutes", open, time.Now().Add(2 * time.Minute), false},
		{"on a resolved market", resolved, time.Now(), false},
		{"with the current time", open, time.Now(), true},
	} {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = tx.Exec(t.Context(), `INSERT INTO api.signals (id, market_id, user_id, yes, price_bps, score_basis_bps, price_verified,
			crowd_yes_bps, created_at, market_title, source) VALUES ($1, $2, $3, true, 1, 1, true, 5000, $4, 'x', 'web')`, uuid.NewString(), tc.market, o.ID, tc.at)
		if (err == nil) != tc.allowed {
			t.Errorf("insert of a call %s: error %v; want allowed: %v", tc.name, err, tc.allowed)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
