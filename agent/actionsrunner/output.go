package actionsrunner

import (
	"strings"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/store"
)

// report is what one line of the listener's output says.
type report int

const (
	nothing report = iota
	listening
	running
	completed
	reconnected
	blocked // with a cause
	ending  // with a cause: the listener will exit
	updating
)

// stampForm is what the listener puts before a line about a job or of its connection
// (actions/runner, src/Runner.Listener/Runner.cs: the format "u" of .NET, then a colon).
const stampForm = "2006-01-02 15:04:05Z"

// parse reads one line of the listener's output. It holds lines with a stamp to their exact form,
// because they carry the names of jobs, which anyone may choose.
func parse(line string) (report, string) {
	if stamped(line) {
		if text, ok := strings.CutPrefix(line[len(stampForm):], ": "); ok {
			return parseStamped(text)
		}
	}
	for _, c := range complaints {
		if strings.Contains(line, c.part) {
			return c.what, c.cause
		}
	}
	return nothing, ""
}

// parseStamped reads what follows the stamp. The texts are those of actions/runner 2.336.0:
// src/Runner.Listener/Runner.cs, JobDispatcher.cs and BrokerMessageListener.cs.
func parseStamped(text string) (report, string) {
	rest, job := strings.CutPrefix(text, "Job ")
	why, failed := strings.CutPrefix(text, "Runner connect error: ")
	switch {
	case strings.HasPrefix(text, "Running job: "):
		return running, ""
	case job:
		const mark = " completed with result: "
		if at := strings.LastIndex(rest, mark); at >= 0 && !strings.Contains(rest[at+len(mark):], " ") {
			return completed, ""
		}
	case text == "Listening for Jobs":
		return listening, ""
	case strings.HasPrefix(text, "Runner reconnected"):
		return reconnected, ""
	case failed:
		for _, c := range complaints {
			if c.what == blocked && strings.Contains(why, c.part) {
				return blocked, c.cause
			}
		}
		return blocked, store.CauseUnavailable
	}
	return nothing, ""
}

// complaints are parts of lines without a stamp, and of the reasons of connect errors. First match
// wins. Sources are files of actions/runner 2.336.0 unless said otherwise.
var complaints = []struct {
	part  string
	what  report
	cause string
}{
	{"A session for this runner already exists", blocked, agent.CauseConflict},               // src/Runner.Listener/BrokerMessageListener.cs
	{"Stop retry on SessionConflictException", ending, agent.CauseConflict},                  // same
	{"is deprecated and cannot receive messages", ending, store.CauseDeprecated},             // the service's own words
	{"The runner registration has been deleted from the server", ending, store.CauseRefused}, // src/Runner.Listener/BrokerMessageListener.cs
	{"The runner no longer exists on the server", ending, store.CauseRefused},                // src/Runner.Listener/Runner.cs
	{"rate limit", blocked, store.CauseThrottled},                                            // docs.github.com, "Rate limits for the REST API"
	{"TooManyRequests", blocked, store.CauseThrottled},                                       // src/Runner.Listener/Configuration/ConfigurationManager.cs: Http response code
	{"Http response code: NotFound", ending, store.CauseRefused},                             // same: wrong URL, or a token without permission
	{"Http response code: Unauthorized", ending, store.CauseRefused},                         // same
	{"Http response code: Forbidden", ending, store.CauseRefused},                            // same
	{"Http response code: ", blocked, store.CauseUnavailable},                                // same: the rest is the service's
	{"Runner update in progress, do not shutdown runner.", updating, ""},                     // src/Runner.Listener/SelfUpdaterV2.cs
	{"Invalid configuration provided for", ending, store.CauseRefused},                       // src/Runner.Listener/Configuration/PromptManager.cs
	{"Failed to create session. Error: Conflict", ending, agent.CauseConflict},               // src/Runner.Listener/BrokerMessageListener.cs
	{"Failed to create session", ending, store.CauseRefused},                                 // src/Runner.Listener/BrokerMessageListener.cs
	// What .NET says of a service that cannot be reached (dotnet/runtime, src/libraries/System.Net.Http/
	// src/Resources/Strings.resx; in brackets what follows the words of the C library).
	{"Connection refused (", blocked, store.CauseUnavailable},
	{"Connection timed out (", blocked, store.CauseUnavailable},
	{"Connection reset by peer", blocked, store.CauseUnavailable},
	{"Network is unreachable (", blocked, store.CauseUnavailable},
	{"No route to host (", blocked, store.CauseUnavailable},
	{"Name or service not known (", blocked, store.CauseUnavailable},
	{"Temporary failure in name resolution (", blocked, store.CauseUnavailable},
	{"Resource temporarily unavailable (", blocked, store.CauseUnavailable},
	{"An error occurred while sending the request", blocked, store.CauseUnavailable},
	{"The SSL connection could not be established", blocked, store.CauseUnavailable},
	{"The response ended prematurely", blocked, store.CauseUnavailable},
	{"Unable to read data from the transport connection", blocked, store.CauseUnavailable},
	{"The request was canceled due to the configured HttpClient.Timeout", blocked, store.CauseUnavailable},
	{"The HTTP request timed out", blocked, store.CauseUnavailable},
	{"A task was canceled", blocked, store.CauseUnavailable},
}

// apply brings a status in step with a line, and reports whether it changed. The names of jobs are in lines of
// their own making: GitHub may let them have several (src/Runner.Listener/JobDispatcher.cs prints them as they
// are). So once there was a job only lines with a stamp count, and a job is over when its worker is, whatever
// a line says; working reports whether it lives.
func apply(st *agent.Status, line string, working func() bool) bool {
	was := *st
	what, cause := parse(line)
	if st.Jobs > 0 && !stamped(line) {
		what = nothing
	}
	switch {
	case what == listening && st.State != agent.Busy, // it is said once, before the first job
		what == reconnected && st.State != agent.Busy,
		what == completed && !working():
		st.State, st.Cause, st.Online = agent.Listening, "", true
	case what == reconnected:
		st.Cause, st.Online = "", true
	case what == running:
		st.State, st.Cause, st.Online = agent.Busy, "", true
		st.Jobs++
	case what == blocked:
		st.Cause = cause
		// Once it listens it goes on whatever it says, and does not say when GitHub is back
		// (src/Runner.Listener/BrokerMessageListener.cs, GetNextMessageAsync).
		if !st.Online {
			st.State, st.Detail = agent.Blocked, strings.ToValidUTF8(line, "?")
		}
	case what == ending:
		st.Cause = cause
	}
	return *st != was
}

// stamped reports whether a line begins as those about jobs and the connection do.
func stamped(line string) bool {
	if len(line) <= len(stampForm) {
		return false
	}
	_, err := time.Parse(stampForm, line[:len(stampForm)])
	return err == nil
}
