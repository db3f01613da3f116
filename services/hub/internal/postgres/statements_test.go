package postgres

import (
	"testing"

	"github.com/signalcast/signalcast/pkg/testkit"
)

// TestEveryStatementPrepares: each statement fits the tables, as the role that runs it.
func TestEveryStatementPrepares(t *testing.T) {
	t.Parallel()
	db := testkit.Postgres(t, Schema(""))
	testkit.PrepareStatements(t, testkit.Pool(t, db.URL("hub_rw")), "db")
}
