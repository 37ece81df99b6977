package ec2test

import (
	"encoding/json"
	"net/http"
	"strings"
)

// getParameters is the call of Systems Manager that we use, in its own protocol.
const getParameters = "GetParameters"

// serveParameter answers AmazonSSM.GetParameters. The lock is held.
func (s *Server) serveParameter(w http.ResponseWriter, r *http.Request) {
	var in struct{ Names []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.requests[getParameters] = append(s.requests[getParameters], nil)
	fault, faulty := s.nextFault(getParameters)
	switch {
	case faulty && fault.Status == 0:
		panic(http.ErrAbortHandler) // breaks the connection
	case faulty:
		answerJSON(w, fault.Status, map[string]any{"__type": fault.Code, "message": fault.Message})
	case s.denied[getParameters]:
		answerJSON(w, http.StatusBadRequest, map[string]any{"__type": "AccessDeniedException", "message": "not authorized to perform: ssm:GetParameters"})
	default:
		found, unknown := []map[string]any{}, []string{}
		for _, name := range in.Names {
			if value, ok := s.resources.parameters[name]; ok {
				found = append(found, map[string]any{"Name": name, "Type": "String", "Value": value, "Version": 1})
			} else {
				unknown = append(unknown, name)
			}
		}
		answerJSON(w, http.StatusOK, map[string]any{"Parameters": found, "InvalidParameters": unknown})
	}
}

func answerJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
}

// checkImage returns how EC2 refuses a fleet that chooses types by attributes where the template's image is
// a parameter (EC2 User Guide, "Use a Systems Manager parameter instead of an AMI ID", Limitations).
func checkImage(image string, overrides []*node) *failure {
	if !strings.HasPrefix(image, "resolve:") {
		return nil
	}
	for _, o := range overrides {
		if o.has("InstanceRequirements") {
			return bad("InvalidParameterCombination", "With attribute-based instance type selection the AMI must be an id, got %q", image)
		}
	}
	return nil
}
