package s3test

import (
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
)

// version names one of an object. Without versioning there is one, called null.
type version struct {
	Key       string
	VersionId string
	Code      string `xml:",omitempty"` // why it is kept
}

// listVersions answers ListObjectVersions, in one page.
func listVersions(w http.ResponseWriter, objects map[string][]byte) {
	answer := struct {
		XMLName     xml.Name `xml:"ListVersionsResult"`
		IsTruncated bool
		Version     []version
	}{}
	for _, key := range slices.Sorted(maps.Keys(objects)) {
		answer.Version = append(answer.Version, version{Key: key, VersionId: "null"})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

// deleteAll answers DeleteObjects.
func deleteAll(w http.ResponseWriter, objects map[string][]byte, body []byte) {
	var asked struct{ Object []version }
	if err := xml.Unmarshal(body, &asked); err != nil || len(asked.Object) == 0 || len(asked.Object) > 1000 {
		refuse(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	answer := struct {
		XMLName xml.Name `xml:"DeleteResult"`
		Error   []version
	}{}
	for _, v := range asked.Object {
		if v.VersionId != "null" {
			answer.Error = append(answer.Error, version{v.Key, v.VersionId, "NoSuchVersion"})
			continue
		}
		delete(objects, v.Key)
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}

// Objects returns how many a bucket holds.
func (s *Server) Objects(bucket string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.buckets[bucket])
}
