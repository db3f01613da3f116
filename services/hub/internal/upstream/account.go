package upstream

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	digestv1 "github.com/signalcast/signalcast/proto/digest/v1"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
	"github.com/signalcast/signalcast/services/hub/internal/digest"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Accounts is the ledger's operators with what is not for everybody.
type Accounts struct {
	read operatorv1.OperatorReadServiceClient
}

// NewAccounts uses a connection to the ledger.
func NewAccounts(cc grpc.ClientConnInterface) *Accounts {
	return &Accounts{operatorv1.NewOperatorReadServiceClient(cc)}
}

// AccountByID implements claim.Accounts.
func (a *Accounts) AccountByID(ctx context.Context, id operator.ID) (claim.Account, error) {
	return a.get(ctx, &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Id{Id: string(id)}})
}

// AccountByHandle implements claim.Finder.
func (a *Accounts) AccountByHandle(ctx context.Context, handle syntax.Handle) (claim.Account, error) {
	return a.get(ctx, &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Handle{Handle: string(handle)}})
}

func (a *Accounts) get(ctx context.Context, r *operatorv1.GetOperatorRequest) (claim.Account, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	answer, err := a.read.GetOperator(ctx, r)
	if err != nil {
		return claim.Account{}, err
	}
	o := answer.GetOperator()
	return claim.Account{
		Operator: operatorOf(o), Issuer: o.GetIssuer(), Subject: o.GetProviderId(), PayoutAddress: o.GetPayoutAddress(), Links: o.GetLinks(),
	}, nil
}

// dayTime bounds the read of a whole day.
const dayTime = 35 * time.Second

// Digests is the ledger's record of days.
type Digests struct {
	read digestv1.DigestReadServiceClient
}

// NewDigests uses a connection to the ledger.
func NewDigests(cc grpc.ClientConnInterface) *Digests {
	return &Digests{digestv1.NewDigestReadServiceClient(cc)}
}

// Day implements digest.Ledger.
func (d *Digests) Day(ctx context.Context, w digest.Window) (digest.Day, error) {
	ctx, cancel := context.WithTimeout(ctx, dayTime)
	defer cancel()
	r, err := d.read.GetDay(ctx, &digestv1.GetDayRequest{From: timestamppb.New(w.From), To: timestamppb.New(w.To)})
	if err != nil {
		return digest.Day{}, err
	}
	out := digest.Day{
		Signals: r.GetSignals(), Won: r.GetWon(), Lost: r.GetLost(), Void: r.GetVoid(), NewOperators: r.GetNewOperators(),
		Disputed: r.GetDisputed(), TopCalls: make([]digest.Call, 0, len(r.GetTopCalls())),
		Pulse: digest.Pulse{
			Last7: r.GetPulse().GetLast7(), Prev7: r.GetPulse().GetPrev7(),
			WssAo: digest.WssAo(r.GetPulse().GetWeekSignals(), r.GetPulse().GetWeekOperators()),
		},
	}
	for _, c := range r.GetTopCalls() {
		out.TopCalls = append(out.TopCalls, digest.Call{
			SignalID: c.GetSignalId(), Handle: c.GetHandle(), MarketTitle: c.GetMarketTitle(),
			Direction: syntax.Side(c.GetDirection()), OddsBps: c.GetOddsBps(), Score: c.GetScore(),
		})
	}
	return out, nil
}
