package grpcapi

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
	"github.com/signalcast/signalcast/services/api/internal/export"
	"github.com/signalcast/signalcast/services/api/internal/market"
)

// Exports implements the gRPC service ExportService.
type Exports struct {
	exportv1.UnimplementedExportServiceServer
	Service *export.Service
}

// Record streams the record of one operator: the operator, the calls in parts, and an end message with totals and the newest
// checkpoint. While the receiver is slow, stream.Send blocks, and the database is not read. Errors: not_found, db_unavailable.
func (f *Exports) Record(r *exportv1.RecordRequest, stream grpc.ServerStreamingServer[exportv1.RecordResponse]) error {
	out := &recordStream{stream: stream, end: &exportv1.RecordEnd{}}
	var err error
	if out.end.Checkpoint, err = f.Service.Record(stream.Context(), r.GetHandle(), out.head, out.page); err != nil {
		return err
	}
	return stream.Send(&exportv1.RecordResponse{End: out.end})
}

// ListPersonalRows returns rows of a section of what is stored about an operator. Errors: not_found, db_unavailable.
func (f *Exports) ListPersonalRows(
	ctx context.Context, r *exportv1.ListPersonalRowsRequest,
) (*exportv1.ListPersonalRowsResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	rows, err := f.Service.PersonalRows(ctx, r.GetOperatorId(), r.GetSection(), r.GetAfter())
	return &exportv1.ListPersonalRowsResponse{Rows: listOf(rows, func(r export.Row) *exportv1.PersonalRow {
		return &exportv1.PersonalRow{Key: r.Key, Json: r.JSON}
	})}, err
}

// maxBytes is the approximate maximum size, in bytes, of one message with calls.
const maxBytes = 256 << 10

// recordStream sends the parts of a record to the receiver, and counts the calls and events that it sends.
type recordStream struct {
	stream grpc.ServerStreamingServer[exportv1.RecordResponse]
	end    *exportv1.RecordEnd
}

func (s *recordStream) head(h export.Head) error {
	tolerance := func(t export.Tolerance) *exportv1.PriceTolerance {
		return &exportv1.PriceTolerance{Since: timestamppb.New(t.Since), Bps: int32(t.Bps)}
	}
	return s.stream.Send(&exportv1.RecordResponse{Head: &exportv1.RecordHead{
		PublicId: h.PublicID, Handle: h.Handle, DisplayName: h.DisplayName,
		OperatorType: h.OperatorType, Tier: string(h.Tier), AsOf: timestamppb.New(h.AsOf), ConfirmAfterMs: h.ConfirmAfter.Milliseconds(),
		PriceTolerances: listOf(h.Tolerances, tolerance),
	}})
}

func (s *recordStream) page(calls []export.Call) error {
	var batch []*exportv1.Call
	size := 0
	for i := range calls {
		c := callTo(&calls[i])
		s.end.Calls++
		s.end.Events += int64(len(c.GetEvents()))
		batch, size = append(batch, c), size+proto.Size(c)
		if size < maxBytes && i < len(calls)-1 {
			continue
		}
		if err := s.stream.Send(&exportv1.RecordResponse{Calls: batch}); err != nil {
			return err
		}
		batch, size = nil, 0
	}
	return nil
}

func callTo(c *export.Call) *exportv1.Call {
	out := &exportv1.Call{
		Signal: recordTo(c.Record), BasisBps: int32(c.ScoredBps), PriceVerified: c.PriceVerified,
		ScoringVersion: c.Version, ScoringVertical: c.Vertical, FilingBasisBps: int32(c.ScoreBasisBps),
		Quote: quoteTo(c.Quote), SecondQuote: quoteTo(c.SecondQuote), InitialYesBps: int32Of(c.InitialYes), OwnMarket: c.OwnMarket,
		Events: listOf(c.Events, eventTo),
	}
	if r := c.Resolution; r != nil {
		out.Resolution = &exportv1.Resolution{
			Outcome: r.Outcome, Resolver: r.Resolver, Source: r.Source, ProofUrl: r.ProofURL, CloseAt: timestamppb.New(r.CloseAt),
			ClosePriceBps: int32Of(r.ClosePrice), ResolvedAt: timestamppb.New(r.ResolvedAt), Disputed: r.Disputed,
			Rated: r.Rated, DecidedAt: stampOf(r.DecidedAt),
		}
	}
	return out
}

func quoteTo(q *market.Quote) *exportv1.Quote {
	if q == nil {
		return nil
	}
	return &exportv1.Quote{YesPriceBps: int32(q.Yes), NoPriceBps: int32(q.No), At: timestamppb.New(q.At), Rule: q.Rule, Sha256: q.SHA256}
}
