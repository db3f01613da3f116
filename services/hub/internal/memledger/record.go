package memledger

import (
	"context"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

func (l *Ledger) named(handle, id string) *operatorv1.Operator {
	for _, o := range l.Operators {
		if o.GetHandle() == handle || handle == "" && o.GetId() == id {
			return o
		}
	}
	return nil
}

// GetOperatorRecord answers what the test put there, for operators that exist.
func (l *Ledger) GetOperatorRecord(ctx context.Context, r *recordv1.GetOperatorRecordRequest) (*recordv1.GetOperatorRecordResponse, error) {
	return do(ctx, l, "GetOperatorRecord", func() (*recordv1.GetOperatorRecordResponse, error) {
		o := l.named(r.GetHandle(), r.GetId())
		if o == nil {
			return nil, ErrNotFound
		}
		out := &recordv1.GetOperatorRecordResponse{Stats: &recordv1.Stats{}}
		if kept := l.Records[o.GetHandle()]; kept != nil {
			out = proto.CloneOf(kept)
		}
		out.Operator = o
		out.Recent = out.Recent[:min(len(out.Recent), int(r.GetRecent()))]
		out.Moments = out.Moments[:min(len(out.Moments), int(r.GetMoments()))]
		return out, nil
	})
}

// ListCalls answers the signals of an operator; its cursors are numbers.
func (l *Ledger) ListCalls(ctx context.Context, r *recordv1.ListCallsRequest) (*recordv1.ListCallsResponse, error) {
	return do(ctx, l, "ListCalls", func() (*recordv1.ListCallsResponse, error) {
		if l.named(r.GetHandle(), "") == nil {
			return nil, ErrNotFound
		}
		var all []*signalv1.Signal
		for _, f := range slices.Backward(l.Signals) {
			if f.Signal.GetHandle() == r.GetHandle() {
				all = append(all, f.Signal)
			}
		}
		from, _ := strconv.Atoi(r.GetCursor())
		from = min(max(from, 0), len(all))
		to := min(from+int(r.GetLimit()), len(all))
		out := &recordv1.ListCallsResponse{Signals: all[from:to]}
		if to < len(all) {
			out.NextCursor = strconv.Itoa(to)
		}
		return out, nil
	})
}

// GetCourse answers what the test put there, for operators that exist.
func (l *Ledger) GetCourse(ctx context.Context, r *recordv1.GetCourseRequest) (*recordv1.GetCourseResponse, error) {
	return do(ctx, l, "GetCourse", func() (*recordv1.GetCourseResponse, error) {
		if l.named(r.GetHandle(), "") == nil {
			return nil, ErrNotFound
		}
		if kept := l.Courses[r.GetHandle()]; kept != nil {
			return kept, nil
		}
		return &recordv1.GetCourseResponse{Whole: true}, nil
	})
}

// ListOperators answers what the test put there.
func (l *Ledger) ListOperators(ctx context.Context, r *recordv1.ListOperatorsRequest) (*recordv1.ListOperatorsResponse, error) {
	return do(ctx, l, "ListOperators", func() (*recordv1.ListOperatorsResponse, error) {
		return &recordv1.ListOperatorsResponse{Operators: l.Ranked[:min(len(l.Ranked), int(r.GetLimit()))], UpdatedAt: l.stamp()}, nil
	})
}

// GetSkill answers what the test put there, for operators that exist.
func (l *Ledger) GetSkill(ctx context.Context, r *recordv1.GetSkillRequest) (*recordv1.GetSkillResponse, error) {
	return do(ctx, l, "GetSkill", func() (*recordv1.GetSkillResponse, error) {
		o := l.named(r.GetHandle(), "")
		if o == nil {
			return nil, ErrNotFound
		}
		out := &recordv1.GetSkillResponse{}
		if kept := l.Skills[r.GetHandle()+" "+r.GetLane()+" "+r.GetWindow()]; kept != nil {
			out = proto.CloneOf(kept)
		}
		out.Operator, out.Version, out.UpdatedAt = o, "1.0", l.stamp()
		return out, nil
	})
}

// GetPulse answers what the test put there.
func (l *Ledger) GetPulse(ctx context.Context, _ *recordv1.GetPulseRequest) (*recordv1.GetPulseResponse, error) {
	return do(ctx, l, "GetPulse", func() (*recordv1.GetPulseResponse, error) {
		if l.Pulse == nil {
			return &recordv1.GetPulseResponse{GeneratedAt: l.stamp()}, nil
		}
		return l.Pulse, nil
	})
}
