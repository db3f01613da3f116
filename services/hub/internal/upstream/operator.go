package upstream

import (
	"context"

	"google.golang.org/grpc"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Operators is the ledger's owner of operators and keys.
type Operators struct {
	read  operatorv1.OperatorReadServiceClient
	write operatorv1.OperatorServiceClient
}

// NewOperators uses a connection to the ledger.
func NewOperators(cc grpc.ClientConnInterface) *Operators {
	return &Operators{operatorv1.NewOperatorReadServiceClient(cc), operatorv1.NewOperatorServiceClient(cc)}
}

// VerifyKey implements caller.Ledger.
func (o *Operators) VerifyKey(ctx context.Context, hash caller.KeyHash) (caller.Owned, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := o.read.VerifyKey(ctx, &operatorv1.VerifyKeyRequest{KeyHash: hash[:]})
	if err != nil {
		return caller.Owned{}, err
	}
	return caller.Owned{Operator: operatorOf(r.GetOperator()), Granted: caller.Granted{
		KeyID: r.GetKey().GetId(), Permissions: r.GetKey().GetPermissions(), Strict: r.GetKey().GetStrict(),
	}}, nil
}

// OperatorByHandle implements operator.Directory.
func (o *Operators) OperatorByHandle(ctx context.Context, handle syntax.Handle) (operator.Operator, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := o.read.GetOperator(ctx, &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Handle{Handle: string(handle)}})
	if err != nil {
		return operator.Operator{}, err
	}
	return operatorOf(r.GetOperator()), nil
}

// OperatorByID implements caller.Ledger and operator.Directory.
func (o *Operators) OperatorByID(ctx context.Context, id operator.ID) (operator.Operator, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := o.read.GetOperator(ctx, &operatorv1.GetOperatorRequest{By: &operatorv1.GetOperatorRequest_Id{Id: string(id)}})
	if err != nil {
		return operator.Operator{}, err
	}
	return operatorOf(r.GetOperator()), nil
}

// SignIn implements operator.Ledger.
func (o *Operators) SignIn(ctx context.Context, who operator.Identity) (operator.Operator, bool, error) {
	r, err := o.write.SignIn(ctx, &operatorv1.SignInRequest{
		Issuer: who.Issuer, Subject: who.Subject, Primary: who.Primary, Username: who.Username, Name: who.Name,
	})
	if err != nil {
		return operator.Operator{}, false, err
	}
	return operatorOf(r.GetOperator()), r.GetIsNew(), nil
}

// MintKey implements operator.Ledger.
func (o *Operators) MintKey(ctx context.Context, owner operator.ID, d operator.KeyDraft) (string, operator.Key, error) {
	r, err := o.write.MintKey(ctx, &operatorv1.MintKeyRequest{
		OperatorId: string(owner), Label: d.Label, Permissions: d.Permissions, Strict: d.Strict, Prefix: d.Prefix,
	})
	if err != nil {
		return "", operator.Key{}, err
	}
	return r.GetPlaintext(), keyOf(r.GetKey()), nil
}

// ListKeys implements operator.Ledger.
func (o *Operators) ListKeys(ctx context.Context, owner operator.ID) ([]operator.Key, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := o.read.ListKeys(ctx, &operatorv1.ListKeysRequest{OperatorId: string(owner)})
	if err != nil {
		return nil, err
	}
	keys := make([]operator.Key, 0, len(r.GetKeys()))
	for _, k := range r.GetKeys() {
		keys = append(keys, keyOf(k))
	}
	return keys, nil
}

// RevokeKey implements operator.Ledger.
func (o *Operators) RevokeKey(ctx context.Context, owner operator.ID, keyID string) (operator.Key, []string, error) {
	r, err := o.write.RevokeKey(ctx, &operatorv1.RevokeKeyRequest{OperatorId: string(owner), KeyId: keyID})
	if err != nil {
		return operator.Key{}, nil, err
	}
	return keyOf(r.GetKey()), r.GetWebhooks(), nil
}

// EndSessions implements operator.Ledger.
func (o *Operators) EndSessions(ctx context.Context, id operator.ID) error {
	_, err := o.write.EndSessions(ctx, &operatorv1.EndSessionsRequest{OperatorId: string(id)})
	return err
}

// RevokedKeys implements message.OperatorKeys.
func (o *Operators) RevokedKeys(ctx context.Context, keyIDs []string) ([]string, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	r, err := o.read.ListRevokedKeys(ctx, &operatorv1.ListRevokedKeysRequest{KeyIds: keyIDs})
	return r.GetKeyIds(), err
}

// Classify implements operator.Ledger.
func (o *Operators) Classify(ctx context.Context, c operator.Class) (operator.Operator, error) {
	r, err := o.write.Classify(ctx, &operatorv1.ClassifyRequest{
		Handle: string(c.Handle), OperatorType: (*string)(c.Type), House: c.House, Actor: c.Actor,
	})
	if err != nil {
		return operator.Operator{}, err
	}
	return operatorOf(r.GetOperator()), nil
}

func operatorOf(o *operatorv1.Operator) operator.Operator {
	return operator.Operator{
		ID:             operator.ID(o.GetId()),
		PublicID:       syntax.PublicID(o.GetPublicId()),
		Handle:         syntax.Handle(o.GetHandle()),
		DisplayName:    o.GetDisplayName(),
		AvatarURL:      o.GetAvatarUrl(),
		Bio:            o.GetBio(),
		Type:           syntax.OperatorType(o.GetOperatorType()),
		Tier:           syntax.Tier(o.GetTier()),
		CreatedAt:      at(o.GetCreatedAt()),
		SessionVersion: o.GetSessionVersion(),
	}
}

func keyOf(k *operatorv1.Key) operator.Key {
	return operator.Key{
		ID: k.GetId(), Label: k.GetLabel(), Tier: k.GetTier(), Permissions: k.GetPermissions(), Strict: k.GetStrict(),
		Active: k.GetActive(), LastUsedAt: at(k.GetLastUsedAt()), CreatedAt: at(k.GetCreatedAt()),
	}
}
