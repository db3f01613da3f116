package edge

import (
	"context"

	"github.com/signalcast/signalcast/services/hub/internal/resolution"
)

// claimAttested finalizes a market and attests what was claimed. The outcome stands
// whether or not the attestation comes at once: the sweep makes up for it.
func (s *server) claimAttested(ctx context.Context, f resolution.Finalize) (resolution.Outcome, resolution.Tally, error) {
	if err := s.Creations.ExpectOutcome(ctx, f.MarketID, f.Reason); err != nil {
		return resolution.Outcome{}, resolution.Tally{}, err
	}
	record, tally, err := s.Resolutions.Finalize(ctx, f)
	if err != nil {
		return record, tally, err
	}
	if err := s.Creations.AttestOutcome(ctx, f.MarketID, f.Reason); err != nil {
		s.Log.WarnContext(ctx, "outcome not attested yet", "market", f.MarketID, "error", err)
	}
	return record, tally, nil
}
