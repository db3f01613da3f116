package outage

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/test/system/stack"
)

const waitingReads = `SELECT count(*) FROM pg_stat_activity WHERE usename = 'api_rw' AND state = 'active'
	AND query LIKE '%(s.created_at, s.id) < (%' AND wait_event_type = 'Lock'`

// TestAbandonedCallsDoNoWork calls the api over gRPC while the table of calls is locked, and cancels every request after 250
// ms. Afterwards, no read may continue in the database, and no call may be stored when the lock ends. The only exceptions are
// two calls whose storage had started when the table was locked.
func TestAbandonedCallsDoNoWork(t *testing.T) {
	s := system(t)
	conn, err := grpc.NewClient(s.Setting(t, "api", "GRPC_ADDR"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	secret := s.Secret(t, "linkSecret")
	call := func(do func(ctx context.Context)) {
		ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), "x-link-secret", secret), 250*time.Millisecond)
		defer cancel()
		do(ctx)
	}
	market := s.NewNativeMarket(t, 5000, nil)
	file := func(o *stack.Operator) {
		call(func(ctx context.Context) {
			_, _ = signalv1.NewSignalServiceClient(conn).File(ctx, &signalv1.FileRequest{
				Caller: &operatorv1.Caller{Credential: &operatorv1.Caller_OperatorId{OperatorId: o.ID}},
				Draft:  &signalv1.Draft{Id: uuid.Must(uuid.NewV7()).String(), MarketId: market, Direction: "YES", PriceBps: 5000, Source: "api"},
			})
		})
	}
	list := func() (err error) {
		call(func(ctx context.Context) {
			_, err = signalv1.NewSignalReadServiceClient(conn).ListLedger(ctx, &signalv1.ListLedgerRequest{MarketId: market, Limit: 10})
		})
		return err
	}
	stack.Eventually(t, recoverWithin, "an answer to the list of calls over gRPC", func() bool { return list() == nil })

	operators := s.SeedOperators(t, 2+stack.Size(t, 10, 40, 200))
	tx, err := s.DB(t).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), "LOCK TABLE api.signals IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	for _, o := range operators[:2] { // the calls of these operators occupy the writers
		file(o)
	}
	stack.AtOnce(len(operators)-2, func(i int) {
		if i%2 == 0 {
			file(operators[2+i])
		} else if list() == nil {
			t.Error("a list of calls was answered although its table is locked")
		}
	})
	stack.Eventually(t, 2*time.Second, "the end of the abandoned reads in the database", func() bool { return stack.Query[int](t, s, waitingReads) == 0 })
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}

	later := s.NewOperator(t)
	stack.Eventually(t, recoverWithin, "a later call to be stored", func() bool {
		a := later.File(t, stack.Call(market, "YES", 5000))
		return a.Status == http.StatusOK || a.Status == http.StatusConflict
	})
	var abandoned []string
	for _, o := range operators[2:] {
		abandoned = append(abandoned, o.ID)
	}
	const stored = "SELECT count(*) FROM api.signals WHERE market_id = $1 AND user_id = ANY ($2::uuid[])"
	if n := stack.Query[int](t, s, stored, market, abandoned); n != 0 {
		t.Errorf("%d of %d cancelled calls were stored; want 0", n, len(abandoned)/2)
	}
}
