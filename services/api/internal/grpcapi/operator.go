package grpcapi

import (
	"context"
	"encoding/json"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/api/internal/feed"
	"github.com/signalcast/signalcast/services/api/internal/operator"
)

// Operators implements the gRPC services OperatorService and OperatorReadService.
type Operators struct {
	operatorv1.UnimplementedOperatorServiceServer
	operatorv1.UnimplementedOperatorReadServiceServer
	Service *operator.Service
	Readers operator.Readers
	Publish Publish // sends each event without a number
	Now     func() time.Time
}

// maxKeyIDs is the maximum number of key ids in one ListRevokedKeys request.
const maxKeyIDs = 1000

var errManyKeys = apperr.New(apperr.Invalid, "invalid_request", "a request must have at most 1,000 key ids")

// SignIn returns the operator of a verified identity, and creates the operator at the first sign-in. Errors: unauthenticated
// without an issuer or subject, db_unavailable.
func (f *Operators) SignIn(ctx context.Context, r *operatorv1.SignInRequest) (*operatorv1.SignInResponse, error) {
	if r.GetIssuer() == "" || r.GetSubject() == "" {
		return nil, operator.ErrUnauthenticated
	}
	o, isNew, err := f.Service.SignIn(ctx, operator.Identity{
		Issuer: r.GetIssuer(), Subject: r.GetSubject(), Primary: r.GetPrimary(), Username: r.GetUsername(), Name: r.GetName(),
	})
	return &operatorv1.SignInResponse{Operator: operatorTo(o), IsNew: isNew}, err
}

// ChangeHandle gives an operator another handle, at most once a year. If First is true, it instead stores the handle that a new
// operator has chosen; an empty handle then keeps the one that was derived from the name of the identity. Errors: not_found,
// invalid_handle, handle_taken, handle_changed, handle_chosen, db_unavailable.
func (f *Operators) ChangeHandle(
	ctx context.Context, r *operatorv1.ChangeHandleRequest,
) (*operatorv1.ChangeHandleResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	return &operatorv1.ChangeHandleResponse{}, f.Service.ChangeHandle(ctx, r.GetOperatorId(), r.GetHandle(), r.GetFirst())
}

// MintKey creates an operator key. Only the MintKey response contains the key in plaintext. Errors: not_found for an invalid
// operator id, invalid_label, invalid_permissions, key_limit_reached, db_unavailable.
func (f *Operators) MintKey(ctx context.Context, r *operatorv1.MintKeyRequest) (*operatorv1.MintKeyResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	plaintext, k, err := f.Service.Mint(ctx, r.GetOperatorId(), r.GetLabel(), r.GetPrefix(), r.GetPermissions(), r.GetStrict())
	return &operatorv1.MintKeyResponse{Plaintext: plaintext, Key: keyTo(k)}, err
}

// RevokeKey revokes a key, deactivates the webhooks that were made with it, and publishes the event key.revoked. Errors:
// not_found, db_unavailable.
func (f *Operators) RevokeKey(ctx context.Context, r *operatorv1.RevokeKeyRequest) (*operatorv1.RevokeKeyResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	k, webhooks, err := f.Service.Revoke(ctx, r.GetOperatorId(), r.GetKeyId())
	if err != nil {
		return nil, err
	}
	// If this event is lost, open sockets verify their key again within 30 seconds.
	f.publish(ctx, r.GetOperatorId(), feed.KeyRevoked, k.ID, map[string]any{"id": k.ID, "label": k.Label})
	return &operatorv1.RevokeKeyResponse{Key: keyTo(k), Webhooks: webhooks}, nil
}

// publish sends an event without a number to the private channel of one operator. On an error, the event is lost.
func (f *Operators) publish(ctx context.Context, operatorID string, kind feed.Type, subject string, data map[string]any) {
	o, err := f.Service.Operator(ctx, "", operatorID)
	if err != nil {
		return
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return
	}
	f.Publish(ctx, feed.Ephemeral{Channel: feed.MeChannel(o.Handle), Type: kind, Subject: subject, At: f.Now(), Data: raw})
}

// EndSessions ends all sessions of an operator and returns the new session version. Errors: not_found, db_unavailable.
func (f *Operators) EndSessions(ctx context.Context, r *operatorv1.EndSessionsRequest) (*operatorv1.EndSessionsResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	version, err := f.Service.EndSessions(ctx, r.GetOperatorId())
	return &operatorv1.EndSessionsResponse{SessionVersion: version}, err
}

// CloseAccount closes an account, or opens it again. Errors: not_found, db_unavailable.
func (f *Operators) CloseAccount(ctx context.Context, r *operatorv1.CloseAccountRequest) (*operatorv1.CloseAccountResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	return &operatorv1.CloseAccountResponse{}, f.Service.CloseAccount(ctx, r.GetOperatorId(), r.GetOpen())
}

// EraseAccount erases a closed account. Errors: not_found if the account is not closed, db_unavailable.
func (f *Operators) EraseAccount(ctx context.Context, r *operatorv1.EraseAccountRequest) (*operatorv1.EraseAccountResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	return &operatorv1.EraseAccountResponse{}, f.Service.EraseAccount(ctx, r.GetOperatorId())
}

// ListClosing returns closed accounts that are not erased. Error: db_unavailable.
func (f *Operators) ListClosing(ctx context.Context, r *operatorv1.ListClosingRequest) (*operatorv1.ListClosingResponse, error) {
	list, err := f.Service.Closing(ctx, r.GetBefore().AsTime())
	return &operatorv1.ListClosingResponse{Operators: listOf(list, operatorTo)}, err
}

// ListNotices returns notices after an id, in the order of their ids. Error: db_unavailable.
func (f *Operators) ListNotices(ctx context.Context, r *operatorv1.ListNoticesRequest) (*operatorv1.ListNoticesResponse, error) {
	list, err := f.Service.Notices(ctx, r.GetAfter(), min(max(int(r.GetLimit()), 1), maxOperators))
	return &operatorv1.ListNoticesResponse{Notices: listOf(list, func(n operator.Notice) *operatorv1.Notice {
		return &operatorv1.Notice{
			Id: n.ID, OperatorId: n.OperatorID, Kind: n.Kind, Key: n.Key, Text: n.Text, At: timestamppb.New(n.At),
		}
	})}, err
}

// ListRevokedKeys returns the requested key ids that are revoked or unknown. Errors: invalid_request for more than maxKeyIDs
// ids, not_found for an invalid id, db_unavailable.
func (f *Operators) ListRevokedKeys(ctx context.Context, r *operatorv1.ListRevokedKeysRequest) (*operatorv1.ListRevokedKeysResponse, error) {
	if len(r.GetKeyIds()) > maxKeyIDs {
		return nil, errManyKeys
	}
	if err := uuids(r.GetKeyIds()...); err != nil {
		return nil, err
	}
	revoked, err := f.Service.RevokedKeys(ctx, r.GetKeyIds())
	return &operatorv1.ListRevokedKeysResponse{KeyIds: revoked}, err
}

// Classify changes the class of an operator, and creates the operator if requested. A value that is absent from the request does
// not change. Errors: not_found, invalid_operator_type, invalid_key_tier, invalid_handle, handle_taken, db_unavailable.
func (f *Operators) Classify(ctx context.Context, r *operatorv1.ClassifyRequest) (*operatorv1.ClassifyResponse, error) {
	o, err := f.Service.Classify(ctx, operator.Class{
		Handle: r.GetHandle(), Type: (*protocol.OperatorType)(r.OperatorType), House: r.House, Seeded: r.Seeded, KeyTier: r.KeyTier,
		Actor: r.GetActor(), Create: r.GetCreate(), DisplayName: r.GetDisplayName(),
	})
	return &operatorv1.ClassifyResponse{Operator: operatorTo(o), Seeded: o.Seeded, KeyTier: o.KeyTier}, err
}

// UpdateProfile applies the profile change in a signed message, once for each message. It publishes the event payout.changed if
// the message contains a payout address. Errors: not_found for an invalid id, forbidden, db_unavailable.
func (f *Operators) UpdateProfile(ctx context.Context, r *operatorv1.UpdateProfileRequest) (*operatorv1.UpdateProfileResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	p := operator.Profile{
		DisplayName: r.DisplayName, Bio: r.Bio, Avatar: changeOf(r.GetAvatar()), PayoutAddress: changeOf(r.GetPayoutAddress()),
		Automated: r.GetAutomated(),
	}
	if r.GetHasLinks() {
		p.Links = append([]string{}, r.GetLinks()...)
	}
	if err := f.Service.UpdateProfile(ctx, r.GetOperatorId(), r.GetMessageId(), p); err != nil {
		return nil, err
	}
	if p.PayoutAddress.Given {
		f.publish(ctx, r.GetOperatorId(), feed.PayoutChanged, r.GetOperatorId(), map[string]any{"payoutAddress": p.PayoutAddress.Text})
	}
	return &operatorv1.UpdateProfileResponse{}, nil
}

func changeOf(c *operatorv1.Change) operator.Change {
	if c == nil {
		return operator.Change{}
	}
	return operator.Change{Given: true, Text: c.Text}
}

// VerifyKey returns the active key whose SHA-256 hash is in the request, and its operator. Errors: unauthenticated,
// db_unavailable.
func (f *Operators) VerifyKey(ctx context.Context, r *operatorv1.VerifyKeyRequest) (*operatorv1.VerifyKeyResponse, error) {
	if len(r.GetKeyHash()) != 32 {
		return nil, operator.ErrUnauthenticated
	}
	o, k, err := f.Service.Verify(ctx, r.GetKeyHash())
	return &operatorv1.VerifyKeyResponse{Operator: operatorTo(o), Key: keyTo(k)}, err
}

// VerifyReader verifies the credential of a public read. Errors: unauthenticated, db_unavailable, identity_provider_unavailable.
func (f *Operators) VerifyReader(ctx context.Context, r *operatorv1.VerifyReaderRequest) (*operatorv1.VerifyReaderResponse, error) {
	id, err := f.Readers.Verify(ctx, operator.Reader{KeyHash: r.GetKeyHash(), TokenHash: r.GetTokenHash(), Login: r.GetLogin()})
	return &operatorv1.VerifyReaderResponse{LimitId: id}, err
}

// maxAppTokens is the maximum number of entries in one StoreAppTokens request.
const maxAppTokens = 500

var errAppTokens = apperr.New(apperr.Invalid, "invalid_request",
	"a request must have at most 500 app tokens, each with a hash of 32 bytes, or a revocation of a grant")

// StoreAppTokens stores access tokens of apps and their revocations. Errors: invalid_request, not_found for an invalid grant id,
// db_unavailable.
func (f *Operators) StoreAppTokens(ctx context.Context, r *operatorv1.StoreAppTokensRequest) (*operatorv1.StoreAppTokensResponse, error) {
	if len(r.GetTokens()) > maxAppTokens {
		return nil, errAppTokens
	}
	tokens := make([]operator.AppToken, 0, len(r.GetTokens()))
	for _, p := range r.GetTokens() {
		t := operator.AppToken{Hash: p.GetHash(), GrantID: p.GetGrantId(), ExpiresAt: p.GetExpiresAt().AsTime()}
		if p.GetRevokedAt() != nil {
			t.RevokedAt = p.GetRevokedAt().AsTime()
		}
		ofGrant := len(t.Hash) == 0 && !t.RevokedAt.IsZero()
		if !ofGrant && len(t.Hash) != 32 {
			return nil, errAppTokens
		}
		if ofGrant || t.RevokedAt.IsZero() {
			if err := uuids(t.GrantID); err != nil {
				return nil, err
			}
		}
		tokens = append(tokens, t)
	}
	return &operatorv1.StoreAppTokensResponse{}, f.Service.StoreAppTokens(ctx, tokens)
}

// ListKeys returns the keys of an operator, newest first. Errors: not_found for an invalid operator id, db_unavailable.
func (f *Operators) ListKeys(ctx context.Context, r *operatorv1.ListKeysRequest) (*operatorv1.ListKeysResponse, error) {
	if err := uuids(r.GetOperatorId()); err != nil {
		return nil, err
	}
	keys, err := f.Service.Keys(ctx, r.GetOperatorId())
	return &operatorv1.ListKeysResponse{Keys: listOf(keys, keyTo)}, err
}

// GetOperator returns the operator who has or had the requested handle. If the handle is empty, it returns the operator with the
// requested id. Errors: not_found, db_unavailable.
func (f *Operators) GetOperator(ctx context.Context, r *operatorv1.GetOperatorRequest) (*operatorv1.GetOperatorResponse, error) {
	if r.GetHandle() == "" {
		if err := uuids(r.GetId()); err != nil {
			return nil, err
		}
	}
	o, err := f.Service.Operator(ctx, r.GetHandle(), r.GetId())
	return &operatorv1.GetOperatorResponse{Operator: operatorTo(o)}, err
}

// FindOperators returns operators whose handle or display name begins with the requested text. Error: db_unavailable.
func (f *Operators) FindOperators(ctx context.Context, r *operatorv1.FindOperatorsRequest) (*operatorv1.FindOperatorsResponse, error) {
	found, err := f.Service.Find(ctx, r.GetText(), bound(r.GetLimit(), mostFound, mostFound))
	return &operatorv1.FindOperatorsResponse{Operators: listOf(found, operatorTo)}, err
}

// mostFound is the maximum number of operators that a search returns.
const mostFound = 25

// ListOperators returns operators by id. Errors: not_found for an invalid id, db_unavailable.
func (f *Operators) ListOperators(ctx context.Context, r *operatorv1.ListOperatorsRequest) (*operatorv1.ListOperatorsResponse, error) {
	ids := r.GetIds()[:min(len(r.GetIds()), maxOperators)]
	if err := uuids(ids...); err != nil {
		return nil, err
	}
	list, err := f.Service.List(ctx, ids)
	return &operatorv1.ListOperatorsResponse{Operators: listOf(list, operatorTo)}, err
}

func operatorTo(o operator.Operator) *operatorv1.Operator {
	return &operatorv1.Operator{
		Id: o.ID, Issuer: o.Issuer, ProviderId: o.ProviderID, PublicId: o.PublicID, Handle: o.Handle,
		DisplayName: o.DisplayName, AvatarUrl: o.AvatarURL, OperatorType: string(o.Type), Tier: string(o.Tier),
		CreatedAt: timestamppb.New(o.CreatedAt), SessionVersion: o.SessionVersion,
		Bio: o.Bio, Links: o.Links, PayoutAddress: o.PayoutAddress,
		ClosingAt: stampOf(o.ClosingAt), HandleChosenAt: stampOf(o.ChosenAt), HandleChangedAt: stampOf(o.ChangedAt),
	}
}

func keyTo(k operator.Key) *operatorv1.Key {
	return &operatorv1.Key{
		Id: k.ID, Label: k.Label, Tier: k.Tier, Permissions: k.Permissions, Active: k.Active,
		LastUsedAt: stampOf(k.LastUsedAt), CreatedAt: timestamppb.New(k.CreatedAt), Prefix: k.Prefix, Last4: k.Last4, Strict: k.Strict,
	}
}
