package broadcast

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/syntax"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
)

// Limits of the list of airings.
const (
	DefaultAirings = 50
	MaxAirings     = 200
)

// Week is a window beside those of the wire.
const Week = "7d"

// ParseSpan reads a window of airings; anything unknown is 24 hours.
func ParseSpan(raw string) string {
	if raw == Week {
		return raw
	}
	return string(syntax.ParseWindow(raw))
}

// Influence returns the airings of a window beside markets that did not air. Without a clock
// nothing aired. Errors: db_unavailable.
func (s *Service) Influence(ctx context.Context, window string, limit int) (*programv1.GetInfluenceResponse, error) {
	if s.Programs == nil {
		return &programv1.GetInfluenceResponse{UpdatedAt: timestamppb.New(s.Now())}, nil
	}
	return s.Programs.GetInfluence(ctx, &programv1.GetInfluenceRequest{Window: window, Limit: int32(limit)})
}
