package memledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
)

// SignIn finds or creates.
func (l *Ledger) SignIn(ctx context.Context, r *operatorv1.SignInRequest) (*operatorv1.SignInResponse, error) {
	return do(ctx, l, "SignIn", func() (*operatorv1.SignInResponse, error) {
		for _, op := range l.Operators {
			if op.GetIssuer() == r.GetIssuer() && op.GetProviderId() == r.GetSubject() {
				return &operatorv1.SignInResponse{Operator: op}, nil
			}
		}
		op := l.newOperator(r.GetIssuer(), r.GetSubject(), r.GetUsername(), r.GetName())
		return &operatorv1.SignInResponse{Operator: op, IsNew: true}, nil
	})
}

// AddOperator makes an operator without a sign-in.
func (l *Ledger) AddOperator(handle string) *operatorv1.Operator {
	l.Lock()
	defer l.Unlock()
	return l.newOperator("https://issuer.example", "did:idp:"+handle, handle, strings.ToUpper(handle))
}

func (l *Ledger) newOperator(issuer, subject, username, name string) *operatorv1.Operator {
	mac := hmac.New(sha256.New, []byte("test-pepper-do-not-use"))
	mac.Write([]byte(subject))
	op := &operatorv1.Operator{
		Id: l.id(), Issuer: issuer, ProviderId: subject, PublicId: "op_" + hex.EncodeToString(mac.Sum(nil)[:8]),
		Handle: username, DisplayName: name, OperatorType: "human", Tier: "independent", CreatedAt: l.stamp(),
	}
	l.Operators[op.GetId()] = op
	return op
}

// AddKey gives an operator a key and returns its plaintext.
func (l *Ledger) AddKey(owner string) string {
	l.Lock()
	defer l.Unlock()
	plaintext, _ := l.mint(owner, "dk_", "test", []string{"read", "signal", "broadcast"})
	return plaintext
}

func (l *Ledger) mint(owner, prefix, label string, permissions []string) (string, *operatorv1.Key) {
	sum := sha256.Sum256([]byte(owner + l.id()))
	plaintext := prefix + base64.RawURLEncoding.EncodeToString(sum[:])
	row := &operatorv1.Key{
		Id: l.id(), Label: label, Tier: "free", Permissions: permissions, Active: true, CreatedAt: l.stamp(),
		Prefix: prefix, Last4: plaintext[len(plaintext)-4:],
	}
	l.Keys[sha256.Sum256([]byte(plaintext))] = &Key{Owner: owner, Row: row}
	return plaintext, row
}

// MintKey allows ten active keys. No permissions are all, the others stand once each.
func (l *Ledger) MintKey(ctx context.Context, r *operatorv1.MintKeyRequest) (*operatorv1.MintKeyResponse, error) {
	return do(ctx, l, "MintKey", func() (*operatorv1.MintKeyResponse, error) {
		asked, all := r.GetPermissions(), []string{"read", "signal", "broadcast"}
		for i, p := range asked {
			if !slices.Contains(all, p) || slices.Contains(asked[:i], p) {
				return nil, ErrPermissions
			}
		}
		permissions := slices.DeleteFunc(all, func(p string) bool { return len(asked) > 0 && !slices.Contains(asked, p) })
		active := 0
		for _, k := range l.Keys {
			if k.Owner == r.GetOperatorId() && k.Row.GetActive() {
				active++
			}
		}
		if active >= 10 {
			return nil, ErrKeyLimit
		}
		plaintext, row := l.mint(r.GetOperatorId(), r.GetPrefix(), r.GetLabel(), permissions)
		row.Strict = r.GetStrict()
		return &operatorv1.MintKeyResponse{Plaintext: plaintext, Key: row}, nil
	})
}

// RevokeKey is idempotent for the owner.
func (l *Ledger) RevokeKey(ctx context.Context, r *operatorv1.RevokeKeyRequest) (*operatorv1.RevokeKeyResponse, error) {
	return do(ctx, l, "RevokeKey", func() (*operatorv1.RevokeKeyResponse, error) {
		for _, k := range l.Keys {
			if k.Owner == r.GetOperatorId() && k.Row.GetId() == r.GetKeyId() {
				k.Row.Active = false
				return &operatorv1.RevokeKeyResponse{Key: k.Row, Webhooks: l.Webhooks[r.GetKeyId()]}, nil
			}
		}
		return nil, ErrNotFound
	})
}

// EndSessions raises the session version.
func (l *Ledger) EndSessions(ctx context.Context, r *operatorv1.EndSessionsRequest) (*operatorv1.EndSessionsResponse, error) {
	return do(ctx, l, "EndSessions", func() (*operatorv1.EndSessionsResponse, error) {
		op := l.Operators[r.GetOperatorId()]
		if op == nil {
			return nil, ErrNotFound
		}
		op.SessionVersion++
		return &operatorv1.EndSessionsResponse{SessionVersion: op.GetSessionVersion()}, nil
	})
}

// ListRevokedKeys names unknown and revoked keys alike.
func (l *Ledger) ListRevokedKeys(ctx context.Context, r *operatorv1.ListRevokedKeysRequest) (*operatorv1.ListRevokedKeysResponse, error) {
	return do(ctx, l, "ListRevokedKeys", func() (*operatorv1.ListRevokedKeysResponse, error) {
		active := map[string]bool{}
		for _, k := range l.Keys {
			active[k.Row.GetId()] = k.Row.GetActive()
		}
		revoked := slices.DeleteFunc(slices.Clone(r.GetKeyIds()), func(id string) bool { return active[id] })
		return &operatorv1.ListRevokedKeysResponse{KeyIds: revoked}, nil
	})
}

// ListKeys shows the newest first.
func (l *Ledger) ListKeys(ctx context.Context, r *operatorv1.ListKeysRequest) (*operatorv1.ListKeysResponse, error) {
	return do(ctx, l, "ListKeys", func() (*operatorv1.ListKeysResponse, error) {
		out := &operatorv1.ListKeysResponse{}
		for _, k := range l.Keys {
			if k.Owner == r.GetOperatorId() {
				out.Keys = append(out.Keys, k.Row)
			}
		}
		slices.SortFunc(out.Keys, func(a, b *operatorv1.Key) int { return strings.Compare(b.GetId(), a.GetId()) })
		return out, nil
	})
}

// VerifyKey refuses unknown and revoked keys alike.
func (l *Ledger) VerifyKey(ctx context.Context, r *operatorv1.VerifyKeyRequest) (*operatorv1.VerifyKeyResponse, error) {
	return do(ctx, l, "VerifyKey", func() (*operatorv1.VerifyKeyResponse, error) {
		k := l.Keys[[32]byte(r.GetKeyHash())]
		if k == nil || !k.Row.GetActive() {
			return nil, ErrUnauthenticated
		}
		return &operatorv1.VerifyKeyResponse{Operator: l.Operators[k.Owner], Key: k.Row}, nil
	})
}

// GetOperator reads by id or handle.
func (l *Ledger) GetOperator(ctx context.Context, r *operatorv1.GetOperatorRequest) (*operatorv1.GetOperatorResponse, error) {
	return do(ctx, l, "GetOperator", func() (*operatorv1.GetOperatorResponse, error) {
		for _, op := range l.Operators {
			if op.GetId() == r.GetId() || op.GetHandle() == r.GetHandle() {
				return &operatorv1.GetOperatorResponse{Operator: op}, nil
			}
		}
		return nil, ErrNotFound
	})
}

// Classify changes what is given.
func (l *Ledger) Classify(ctx context.Context, r *operatorv1.ClassifyRequest) (*operatorv1.ClassifyResponse, error) {
	return do(ctx, l, "Classify", func() (*operatorv1.ClassifyResponse, error) {
		for _, op := range l.Operators {
			if op.GetHandle() != r.GetHandle() {
				continue
			}
			if r.OperatorType != nil {
				op.OperatorType = r.GetOperatorType()
			}
			switch {
			case op.GetOperatorType() != "human":
				op.Tier = "automated"
			case r.GetHouse():
				op.Tier = "house"
			default:
				op.Tier = "independent"
			}
			return &operatorv1.ClassifyResponse{Operator: op}, nil
		}
		return nil, ErrNotFound
	})
}

// owner finds whom a caller speaks for.
func (l *Ledger) owner(c *operatorv1.Caller) (string, error) {
	if hash := c.GetKeyHash(); hash != nil {
		k := l.Keys[[32]byte(hash)]
		if k == nil || !k.Row.GetActive() {
			return "", ErrUnauthenticated
		}
		return k.Owner, nil
	}
	if l.Operators[c.GetOperatorId()] == nil {
		return "", ErrUnauthenticated
	}
	return c.GetOperatorId(), nil
}
