package upstream

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"

	exportv1 "github.com/signalcast/signalcast/proto/export/v1"

	"github.com/signalcast/signalcast/pkg/link"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/export"
)

// Exports is the ledger as the source of whole records.
type Exports struct{ read exportv1.ExportServiceClient }

// NewExports uses a connection to the ledger.
func NewExports(cc grpc.ClientConnInterface) *Exports {
	return &Exports{read: exportv1.NewExportServiceClient(cc)}
}

// headWithin bounds the wait for the first message of a record. Without it, a ledger that hangs delays the answer until
// keepalive closes the connection.
const headWithin = time.Second

// Record implements export.Ledger. The ledger sends the next message when the reader has taken the last one; a reader that
// stops early ends the call. Fault: signal_service_unavailable, also if no message comes within headWithin.
func (e *Exports) Record(ctx context.Context, handle syntax.Handle, to export.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(headWithin, cancel)
	stream, err := e.read.Record(ctx, &exportv1.RecordRequest{Handle: string(handle)})
	if err != nil {
		return err // the stream opens at once: without a connection the call fails
	}
	for first := true; ; first = false {
		r, err := stream.Recv()
		if first && !late.Stop() {
			return link.ErrUnavailable
		}
		if errors.Is(err, io.EOF) {
			return link.ErrUnavailable // it ended without its counts
		}
		if err != nil {
			return err
		}
		switch {
		case r.GetHead() != nil:
			err = to.Head(ownerOf(r.GetHead()))
		case r.GetEnd() != nil:
			return to.End(export.End{Calls: r.GetEnd().GetCalls(), Events: r.GetEnd().GetEvents(), Checkpoint: r.GetEnd().GetCheckpoint()})
		default:
			err = to.Calls(callsOf(r.GetCalls()))
		}
		if err != nil {
			return err
		}
	}
}

func ownerOf(h *exportv1.RecordHead) export.Owner {
	out := export.Owner{
		PublicID: h.GetPublicId(), Handle: h.GetHandle(), DisplayName: h.GetDisplayName(),
		OperatorType: h.GetOperatorType(), Tier: h.GetTier(), AsOf: at(h.GetAsOf()),
		ConfirmAfter: time.Duration(h.GetConfirmAfterMs()) * time.Millisecond,
	}
	for _, t := range h.GetPriceTolerances() {
		out.Tolerances = append(out.Tolerances, export.Tolerance{Since: at(t.GetSince()), Bps: t.GetBps()})
	}
	return out
}

func callsOf(list []*exportv1.Call) []export.Call {
	out := make([]export.Call, len(list))
	for i, c := range list {
		out[i] = export.Call{
			Signal: signalOf(c.GetSignal()), Lane: c.GetSignal().GetLane(), FilingBasis: syntax.Bps(c.GetFilingBasisBps()),
			Quote: quoteOf(c.GetQuote()), SecondQuote: quoteOf(c.GetSecondQuote()), InitialYes: c.InitialYesBps, OwnMarket: c.GetOwnMarket(),
			Version: c.GetScoringVersion(), Vertical: c.GetScoringVertical(),
		}
		if r := c.GetResolution(); r != nil {
			out[i].Resolution = &export.Resolution{
				Outcome: r.GetOutcome(), Resolver: r.GetResolver(), Source: r.GetSource(), ProofURL: r.GetProofUrl(),
				CloseAt: at(r.GetCloseAt()), ClosePrice: r.ClosePriceBps, ResolvedAt: at(r.GetResolvedAt()), Disputed: r.GetDisputed(),
				Rated: r.GetRated(), DecidedAt: at(r.GetDecidedAt()),
			}
		}
		for _, e := range c.GetEvents() {
			out[i].Events = append(out[i].Events, eventOf(e))
		}
	}
	return out
}

func quoteOf(q *exportv1.Quote) *export.Quote {
	if q == nil {
		return nil
	}
	return &export.Quote{Yes: q.GetYesPriceBps(), No: q.GetNoPriceBps(), At: at(q.GetAt()), Rule: q.GetRule(), SHA256: q.GetSha256()}
}
