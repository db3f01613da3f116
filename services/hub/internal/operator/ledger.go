package operator

import (
	"context"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
)

// FromMessage converts an operator message of the ledger. Missing texts become empty.
func FromMessage(m *operatorv1.Operator) Operator {
	return Operator{
		ID:             ID(m.GetId()),
		PublicID:       protocol.PublicID(m.GetPublicId()),
		Handle:         protocol.Handle(m.GetHandle()),
		DisplayName:    m.GetDisplayName(),
		AvatarURL:      m.GetAvatarUrl(),
		Bio:            m.GetBio(),
		Type:           protocol.OperatorType(m.GetOperatorType()),
		Tier:           protocol.Tier(m.GetTier()),
		CreatedAt:      ledgerclient.Time(m.GetCreatedAt()),
		SessionVersion: m.GetSessionVersion(),
		ClosingAt:      ledgerclient.Time(m.GetClosingAt()),

		HandleChosenAt: ledgerclient.Time(m.GetHandleChosenAt()), HandleChangedAt: ledgerclient.Time(m.GetHandleChangedAt()),
	}
}

// Directory looks up operators in the ledger. Errors of its methods: not_found, and the errors of the ledger.
type Directory struct {
	Ledger operatorv1.OperatorReadServiceClient
}

// ByID requests the operator with the id from the ledger. It returns not_found if there is none.
func (d Directory) ByID(ctx context.Context, id ID) (Operator, error) {
	r, err := d.Ledger.GetOperator(ctx, &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Id{Id: string(id)}})
	if err != nil {
		return Operator{}, err
	}
	return FromMessage(r.GetOperator()), nil
}

// ByHandle requests the operator who has or had the handle from the ledger. It returns not_found if there is none.
func (d Directory) ByHandle(ctx context.Context, handle protocol.Handle) (Operator, error) {
	r, err := d.Ledger.GetOperator(ctx, &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Handle{Handle: string(handle)}})
	if err != nil {
		return Operator{}, err
	}
	return FromMessage(r.GetOperator()), nil
}

// SignInRequest returns the ledger request that finds or creates the operator of the identity.
func (i Identity) SignInRequest() *operatorv1.SignInRequest {
	return &operatorv1.SignInRequest{Issuer: i.Issuer, Subject: i.Subject, Primary: i.Primary, Username: i.Username, Name: i.Name}
}

// MintRequest returns the ledger request that creates the key for the operator owner.
func (d KeyDraft) MintRequest(owner ID) *operatorv1.MintKeyRequest {
	return &operatorv1.MintKeyRequest{
		OperatorId: string(owner), Label: d.Label, Permissions: d.Permissions, Strict: d.Strict, Prefix: d.Prefix,
	}
}

// UpdateRequest returns the ledger request that changes the profile of an operator. The ledger applies it once per message id.
func (p Profile) UpdateRequest(id ID, messageID string) *operatorv1.UpdateProfileRequest {
	return &operatorv1.UpdateProfileRequest{
		MessageId: messageID, OperatorId: string(id), DisplayName: p.DisplayName, Bio: p.Bio,
		Avatar: p.Avatar.message(), PayoutAddress: p.PayoutAddress.message(), HasLinks: p.Links != nil, Links: p.Links, Automated: p.Automated,
	}
}

func (c Change) message() *operatorv1.Change {
	if !c.Given {
		return nil
	}
	return &operatorv1.Change{Text: c.Text}
}
