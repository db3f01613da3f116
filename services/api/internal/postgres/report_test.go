package postgres

import "github.com/signalcast/signalcast/pkg/skill"

// plainReport shows what stands behind pointers.
func plainReport(r skill.Report) (out struct {
	skill.Report
	Calibrated           skill.Calibration
	NeedsMore, NeedsSure string
},
) {
	out.NeedsMore, out.NeedsSure = show(r.Needed), show(r.NeededSure)
	if r.Calibration != nil {
		out.Calibrated = *r.Calibration
	}
	r.Needed, r.NeededSure, r.Calibration = nil, nil, nil
	out.Report = r
	return out
}
