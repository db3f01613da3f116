package resolution

import "github.com/signalcast/signalcast/pkg/syntax"

// Draft is what the creator of a native market proposes in a signed message.
type Draft struct {
	MarketID  syntax.MarketID
	By        string // operator id
	MessageID string
	Verdict   syntax.Verdict
	ProofURL  *string
	Reason    *string
}
