package upstream

import (
	"context"

	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"

	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// UpdateProfile implements creation.Profiles.
func (o *Operators) UpdateProfile(ctx context.Context, who operator.ID, messageID string, p operator.Profile) error {
	_, err := o.write.UpdateProfile(ctx, &operatorv1.UpdateProfileRequest{
		MessageId: messageID, OperatorId: string(who), DisplayName: p.DisplayName, Bio: p.Bio,
		Avatar: changeTo(p.Avatar), PayoutAddress: changeTo(p.PayoutAddress), HasLinks: p.Links != nil, Links: p.Links, Automated: p.Automated,
	})
	return err
}

func changeTo(c operator.Change) *operatorv1.Change {
	if !c.Given {
		return nil
	}
	return &operatorv1.Change{Text: c.Text}
}
