package upstream

import (
	"context"

	"google.golang.org/grpc"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/claim"
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
