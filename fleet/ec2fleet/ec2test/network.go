package ec2test

import (
	"encoding/json"
	"net/http"
)

// NAT is the way out of the subnets of a new server.
const NAT = "nat-0123456789abcdef0"

// SetRoute makes a subnet lead out by a gateway, "" for none at all.
func (s *Server) SetRoute(subnet, gateway string) {
	s.set(func() { s.resources.routes[subnet] = gateway })
}

// SetQuota sets a quota by its code; a negative value makes it unknown.
func (s *Server) SetQuota(code string, value float64) {
	s.set(func() { s.resources.quotas[code] = value })
}

// SetDeprecation gives images an end, in RFC 3339.
func (s *Server) SetDeprecation(id, at string) { s.set(func() { s.resources.ends[id] = at }) }

// describeRoutes returns the main table, which leads out by NAT, and one for each subnet that has a route of its own.
func (r *resources) describeRoutes(q *node) (string, *failure) {
	type table struct{ subnet, gateway string }
	all := []table{{"", NAT}}
	for _, subnet := range sortedKeys(r.routes) {
		all = append(all, table{subnet, r.routes[subnet]})
	}
	page, next := paged(r.api, q, all)
	return next + set("routeTableSet", page, func(t table) string {
		to, association := text("gatewayId", t.gateway), el("item", text("main", false), text("subnetId", t.subnet))
		if t.subnet == "" {
			to, association = text("natGatewayId", t.gateway), el("item", text("main", true))
		}
		routes := el("item", text("destinationCidrBlock", "10.0.0.0/16"), text("gatewayId", "local"), text("state", "active"))
		if t.gateway != "" {
			routes += el("item", text("destinationCidrBlock", "0.0.0.0/0"), to, text("state", "active"))
		}
		return text("vpcId", VPC) + el("associationSet", association) + el("routeSet", routes)
	}), nil
}

// getQuota is the call of Service Quotas that we use, in its own protocol.
const getQuota = "GetServiceQuota"

// serveQuota answers ServiceQuotas.GetServiceQuota. The lock is held.
func (s *Server) serveQuota(w http.ResponseWriter, r *http.Request) {
	var in struct{ QuotaCode string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	value, ok := s.resources.quotas[in.QuotaCode]
	switch {
	case s.denied[getQuota]:
		answerJSON(w, http.StatusBadRequest, map[string]any{"__type": "AccessDeniedException", "message": "not authorized to perform: servicequotas:GetServiceQuota"})
	case !ok || value < 0:
		answerJSON(w, http.StatusBadRequest, map[string]any{"__type": "NoSuchResourceException", "message": "no such quota"})
	default:
		answerJSON(w, http.StatusOK, map[string]any{"Quota": map[string]any{"QuotaCode": in.QuotaCode, "Value": value}})
	}
}
