/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcpdump expressions, compiled and run by libpcap. */
#include <roce/capture.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpcap.h"

#define SNAPLEN 262144

/* What can carry RoCE above IP: UDP 4791; VXLAN, VXLAN-GPE, GENEVE; GRE, IP in IP (either inner
 * version), in IPv4 and in IPv6. */
#define OVER_IP                                                        \
    "udp port 4791 or udp port 4789 or udp port 4790 or udp port 6081" \
    " or ip proto 47 or ip proto 4 or ip proto 41 or ip6 proto 47 or ip6 proto 4 or ip6 proto 41"

/* The same and RoCEv1, MAC control (PFC) and MPLS, by their EtherTypes. */
#define OVER_LINK                                                                          \
    "ether proto 0x8915 or ether proto 0x8808 or ether proto 0x8847 or ether proto 0x8848" \
    " or " OVER_IP

/* Every "vlan" moves the offsets of all that stands behind it, so the plain frames come first, and
 * two tags after one. */
const char ROCE_BPF_ROCE[] =
    OVER_LINK " or (vlan and (" OVER_LINK " or (vlan and (" OVER_LINK "))))";

/* For link types on which libpcap cannot do all of it: raw IP has no EtherType; Linux cooked frames
 * have one, but libpcap does not look behind a tag there, so tagged ones all pass. */
static const char *const reduced[] = {OVER_LINK " or ether proto 0x8100", OVER_IP};

struct roce_bpf {
    bool everything; /* nothing of the expression can be told on this link type */
    __typeof__(pcap_offline_filter) *filter;
    __typeof__(pcap_freecode) *freecode;
    struct bpf_program program;
};

/* LINKTYPE_ numbers are DLT_ numbers but where systems disagreed on the latter. */
static int dlt_of(uint32_t linktype)
{
    return linktype == ROCE_LINK_RAW ? DLT_RAW : (int)linktype;
}

static int compile(const struct cap_pcap *lib, struct bpf_program *program, const char *expression,
                   uint32_t linktype, char *text)
{
    int rc = 0;
    pcap_t *pcap = lib->open_dead(dlt_of(linktype), SNAPLEN);
    if (pcap == NULL) {
        snprintf(text, ROCE_ERRTEXT_LEN, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return ROCE_ERR_NOMEM;
    }
    if (lib->compile(pcap, program, expression, 1, PCAP_NETMASK_UNKNOWN) != 0) {
        snprintf(text, ROCE_ERRTEXT_LEN, "%s", lib->geterr(pcap));
        rc = ROCE_ERR_SYNTAX;
    }
    lib->close(pcap);
    return rc;
}

static int prepare(struct roce_bpf *bpf, const char *expression, uint32_t linktype, char *text)
{
    const struct cap_pcap *lib = cap_pcap_load(text);
    if (lib == NULL)
        return ROCE_ERR_IO;
    bpf->filter = lib->offline_filter;
    bpf->freecode = lib->freecode;
    int rc = compile(lib, &bpf->program, expression, linktype, text);
    if (rc != ROCE_ERR_SYNTAX || strcmp(expression, ROCE_BPF_ROCE) != 0)
        return rc;
    for (size_t i = 0; i < sizeof(reduced) / sizeof(reduced[0]) && rc == ROCE_ERR_SYNTAX; i++)
        rc = compile(lib, &bpf->program, reduced[i], linktype, text);
    /* ERF and InfiniBand: a filter that cannot look must not lose anything. */
    bpf->everything = rc == ROCE_ERR_SYNTAX;
    return bpf->everything ? 0 : rc;
}

struct roce_bpf *roce_bpf_compile(const char *expression, uint32_t linktype, int *err,
                                  char text[ROCE_ERRTEXT_LEN])
{
    char unused[ROCE_ERRTEXT_LEN];
    if (text == NULL)
        text = unused;
    struct roce_bpf *bpf = calloc(1, sizeof(*bpf));
    int rc = ROCE_ERR_NOMEM;
    if (bpf == NULL)
        snprintf(text, ROCE_ERRTEXT_LEN, "%s", roce_strerror(rc));
    else
        rc = prepare(bpf, expression, linktype, text);
    if (err != NULL)
        *err = rc;
    if (rc == 0) {
        text[0] = '\0';
        return bpf;
    }
    free(bpf);
    return NULL;
}

bool roce_bpf_match(const struct roce_bpf *bpf, const struct roce_frame *frame)
{
    if (bpf->everything)
        return true;
    const struct pcap_pkthdr header = {.caplen = frame->caplen, .len = frame->origlen};
    return bpf->filter(&bpf->program, &header, frame->data) != 0;
}

void roce_bpf_del(struct roce_bpf *bpf)
{
    if (bpf == NULL)
        return;
    if (!bpf->everything)
        bpf->freecode(&bpf->program);
    free(bpf);
}
