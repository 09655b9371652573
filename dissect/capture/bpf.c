/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcpdump expressions, compiled and run by libpcap. */
#include <roce/capture.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

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
    struct bpf_program program;
};

/* LINKTYPE_ numbers are DLT_ numbers but where systems disagreed on the latter. */
static int dlt_of(uint32_t linktype)
{
    return linktype == ROCE_LINK_RAW ? DLT_RAW : (int)linktype;
}

static bool compile(struct bpf_program *program, const char *expression, uint32_t linktype,
                    char *text)
{
    pcap_t *pcap = pcap_open_dead(dlt_of(linktype), SNAPLEN);
    if (pcap == NULL) {
        snprintf(text, ROCE_ERRTEXT_LEN, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return false;
    }
    const bool ok = pcap_compile(pcap, program, expression, 1, PCAP_NETMASK_UNKNOWN) == 0;
    if (!ok)
        snprintf(text, ROCE_ERRTEXT_LEN, "%s", pcap_geterr(pcap));
    pcap_close(pcap);
    return ok;
}

struct roce_bpf *roce_bpf_compile(const char *expression, uint32_t linktype,
                                  char text[ROCE_ERRTEXT_LEN])
{
    char unused[ROCE_ERRTEXT_LEN];
    if (text == NULL)
        text = unused;
    struct roce_bpf *bpf = calloc(1, sizeof(*bpf));
    if (bpf == NULL) {
        snprintf(text, ROCE_ERRTEXT_LEN, "%s", roce_strerror(ROCE_ERR_NOMEM));
        return NULL;
    }
    bool ok = compile(&bpf->program, expression, linktype, text);
    if (!ok && strcmp(expression, ROCE_BPF_ROCE) == 0) {
        for (size_t i = 0; i < sizeof(reduced) / sizeof(reduced[0]) && !ok; i++)
            ok = compile(&bpf->program, reduced[i], linktype, text);
        /* ERF and InfiniBand: a filter that cannot look must not lose anything. */
        bpf->everything = !ok;
        ok = true;
    }
    if (!ok) {
        free(bpf);
        return NULL;
    }
    text[0] = '\0';
    return bpf;
}

bool roce_bpf_match(const struct roce_bpf *bpf, const struct roce_frame *frame)
{
    if (bpf->everything)
        return true;
    const struct pcap_pkthdr header = {.caplen = frame->caplen, .len = frame->origlen};
    return pcap_offline_filter(&bpf->program, &header, frame->data) != 0;
}

void roce_bpf_del(struct roce_bpf *bpf)
{
    if (bpf == NULL)
        return;
    if (!bpf->everything)
        pcap_freecode(&bpf->program);
    free(bpf);
}
