package postgres

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestEveryStatementPrepares checks that the role hub_rw can prepare each statement on the current tables.
func TestEveryStatementPrepares(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, Schema(""))
	testkit.PrepareStatements(t, testkit.Pool(t, db.URL("hub_rw")), "db")
}
