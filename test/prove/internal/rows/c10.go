package rows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// c10 calls the ledger as a hub does. Too little time left is refused before any
// work; and of callers who left while the database stood still, nothing is done
// once it goes on.
var c10 = frame.Row{
	ID: "C10", Title: "deadlines travel",
	Fault: frame.Fault{What: "the ledger begins whatever time is left"},
	Run: func(ctx context.Context, env *frame.Env) (*frame.Seen, error) {
		seen := frame.NewSeen()
		l, err := dialLedger(ctx, env)
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.conn.Close() }()
		ids, err := markets(ctx, env, "C10", 1)
		if err != nil {
			return nil, err
		}
		n := env.Of(5, 20, 100)
		enough, tooLate := 0, 0
		for range n {
			if err := l.read(ctx, ids[0], 150*time.Millisecond); err == nil {
				enough++
			} else {
				seen.Wrong("with 150 ms left: %v", err)
			}
			switch err := l.read(ctx, ids[0], 80*time.Millisecond); {
			case isTooLate(err):
				tooLate++
			default:
				seen.Wrong("with 80 ms left: %v", err)
			}
		}
		left, running, err := l.leave(ctx, ids[0], env.Of(10, 40, 200))
		if err != nil {
			return nil, err
		}
		seen.Check(left == 0 && running == 0, "%d calls were filed for callers who had left, %d statements went on", left, running)
		seen.Promise(fmt.Sprintf("150 ms works %d of %d, 80 ms is refused %d of %d, work after the caller is gone 0", n, n, n, n),
			fmt.Sprintf("%d, %d, %d", enough, tooLate, left+running))
		seen.Volume("%d calls", 2*n)
		return seen, nil
	},
}

// innerFace is the inner face of the ledger.
type innerFace struct {
	env    *frame.Env
	conn   *grpc.ClientConn
	secret string
}

func dialLedger(ctx context.Context, env *frame.Env) (*innerFace, error) {
	settings, err := stack.Environment(env.Stack.PID("api"))
	if err != nil {
		return nil, err
	}
	secret, err := env.Stack.Secret("linkSecret")
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(settings["GRPC_ADDR"], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	conn.Connect()
	l := &innerFace{env: env, conn: conn, secret: secret}
	// Connecting is not what is timed.
	_, err = frame.Until(ctx, 10*time.Second, func() (bool, error) {
		return l.once(ctx, "native-none", time.Second) != nil && conn.GetState().String() == "READY", nil
	})
	return l, err
}

func (l *innerFace) outgoing(ctx context.Context, left time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "x-link-secret", l.secret), left)
}

func (l *innerFace) once(ctx context.Context, market string, left time.Duration) error {
	ctx, cancel := l.outgoing(ctx, left)
	defer cancel()
	_, err := marketv1.NewMarketReadServiceClient(l.conn).GetMarket(ctx, &marketv1.GetMarketRequest{Id: market})
	return err
}

// read calls until the ledger itself decided. On a busy machine a call may lie
// about on its way until it is late.
func (l *innerFace) read(ctx context.Context, market string, left time.Duration) (err error) {
	for range 20 {
		if err = l.once(ctx, market, left); err == nil || isTooLate(err) && left < 100*time.Millisecond {
			return err
		}
		if err := wait(ctx, time.Now().Add(20*time.Millisecond)); err != nil {
			return err
		}
	}
	return err
}

// isTooLate tells whether the ledger refused for want of time.
func isTooLate(err error) bool {
	st, ok := status.FromError(err)
	if !ok || err == nil {
		return false
	}
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok && info.GetReason() == "deadline_too_short" {
			return true
		}
	}
	return false
}

// leave files and reads while a lock holds the tables, lets every caller go, and
// counts what the ledger did or still does for them. The two calls that were
// being written when their callers left may stand: they are in doubt.
func (l *innerFace) leave(ctx context.Context, market string, n int) (filed, running int, err error) {
	ops, err := pool(ctx, l.env, "c10", n+2, 1)
	if err != nil {
		return 0, 0, err
	}
	tx, err := l.env.DB.Begin(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, "LOCK TABLE api.signals IN ACCESS EXCLUSIVE MODE"); err != nil {
		return 0, 0, err
	}
	for i := range 2 { // they occupy those who write
		l.file(ctx, ops[i], market, 250*time.Millisecond)
	}
	frame.AtOnce(n, func(i int) {
		if i%2 == 0 {
			l.file(ctx, ops[2+i], market, 250*time.Millisecond)
			return
		}
		_ = l.list(ctx, market, 250*time.Millisecond)
	})
	// All callers are gone. What reads for them must have been given up.
	reading := func() (int, error) {
		return l.env.Count(ctx, `SELECT count(*) FROM pg_stat_activity WHERE usename = 'api_rw' AND state = 'active'
			AND query ILIKE 'SELECT%' AND wait_event_type = 'Lock'`)
	}
	_, err = frame.Until(ctx, 2*time.Second, func() (bool, error) {
		running, err = reading()
		return running == 0, err
	})
	if err != nil {
		return 0, 0, err
	}
	if err := tx.Rollback(ctx); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
		return 0, 0, err
	}
	return l.settled(ctx, market, ops[2:], running)
}

// settled counts the calls of those who left, once a later call is through.
func (l *innerFace) settled(ctx context.Context, market string, left []client.Operator, running int) (int, int, error) {
	later, err := pool(ctx, l.env, "c10_later", 1, 1)
	if err != nil {
		return 0, 0, err
	}
	_, err = frame.Until(ctx, 10*time.Second, func() (bool, error) {
		a := l.env.Client.File(ctx, l.env.Hub(0), later[0].Keys[0], client.Call{Market: market, Yes: true, Price: 5000})
		return a.Status == 200 || a.Status == 409, nil
	})
	if err != nil {
		return 0, 0, err
	}
	var users []string
	for _, o := range left {
		users = append(users, o.ID)
	}
	n, err := l.env.Count(ctx, "SELECT count(*) FROM api.signals WHERE market_id = $1 AND user_id = ANY ($2::uuid[])", market, users)
	return n, running, err
}

// file files a call for as long as its caller waits, whatever comes of it.
func (l *innerFace) file(ctx context.Context, op client.Operator, market string, left time.Duration) {
	ctx, cancel := l.outgoing(ctx, left)
	defer cancel()
	_, _ = signalv1.NewSignalServiceClient(l.conn).File(ctx, &signalv1.FileRequest{
		Caller: &operatorv1.Caller{Credential: &operatorv1.Caller_OperatorId{OperatorId: op.ID}},
		Draft:  &signalv1.Draft{Id: uuid.Must(uuid.NewV7()).String(), MarketId: market, Direction: "YES", PriceBps: 5000, Source: "api"},
	})
}

func (l *innerFace) list(ctx context.Context, market string, left time.Duration) error {
	ctx, cancel := l.outgoing(ctx, left)
	defer cancel()
	_, err := signalv1.NewSignalReadServiceClient(l.conn).ListLedger(ctx, &signalv1.ListLedgerRequest{MarketId: market, Limit: 10})
	return err
}
