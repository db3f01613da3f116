package verbs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/signer"
)

// Resolve is the command `signalcast resolve`, which proposes the outcome of a market.
type Resolve struct {
	settings.Flags
	Market  string  `arg:"" help:"Id of a market that you created, native-…"`
	Verdict Verdict `arg:"" help:"yes, no or invalid."`
	Signer  string  `required:"" help:"File of your signing key, with the scope resolution:create." type:"path" placeholder:"FILE"`
	Proof   string  `help:"Address of a page that shows the outcome; https." placeholder:"URL"`
	Reason  string  `help:"Reason, up to 500 characters."`
}

// Run signs a resolution.create message with the key of the creator of the market and submits it. The message proposes the
// outcome and closes the market to calls. An administrator then claims the outcome with `signalcast admin finalize`.
func (r *Resolve) Run(ctx context.Context, s *Streams) error {
	key, err := signer.Open(r.Signer)
	if err != nil {
		return err
	}
	payload := map[string]string{"marketId": r.Market, "verdict": string(r.Verdict)}
	for name, v := range map[string]string{"proofUrl": r.Proof, "reason": r.Reason} {
		if v != "" {
			payload[name] = v
		}
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	message, err := key.Message("resolution.create", raw, time.Now())
	if err != nil {
		return err
	}
	at, err := openPublic(&r.Flags, s)
	if err != nil {
		return err
	}
	return ask.AdviseUnknown(at.submit(ctx, message), "Check with `signalcast market show "+r.Market+"` before you send it again")
}
