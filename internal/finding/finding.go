// Package finding says what a check of an installation came to.
package finding

// Verdict is what a check came to.
type Verdict string

// The verdicts, in the order of what an operator should see to.
const (
	OK      Verdict = "ok"
	Skipped Verdict = "skipped" // it could not be looked at, or there is nothing to look at; Detail says why
	Warning Verdict = "warning" // it works, and will not for ever, or not for all
	Failed  Verdict = "failed"  // no runner comes before this is put right
)

// Finding is one check.
type Finding struct {
	Check   string  `json:"check"` // what was looked at, such as table or subnets
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail"`           // what is so
	Remedy  string  `json:"remedy,omitempty"` // what to do; "" if nothing is to be done
}

// Of returns the finding of a check that failed with err, or else is OK with detail. remedy is for the failure alone.
func Of(check string, err error, detail, remedy string) Finding {
	if err != nil {
		return Finding{Check: check, Verdict: Failed, Detail: err.Error(), Remedy: remedy}
	}
	return Finding{Check: check, Verdict: OK, Detail: detail}
}
