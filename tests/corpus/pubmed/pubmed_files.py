"""Records that nobody published, to read back."""

from __future__ import annotations

HEAD = b"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" "http://127.0.0.1:9/pubmed.dtd">
<PubmedArticleSet>
"""
TAIL = b"\n</PubmedArticleSet>\n"

FULL = b"""<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="2">90000001</PMID>
<DateCompleted><Year>2021</Year><Month>03</Month><Day>09</Day></DateCompleted>
<DateRevised><Year>2022</Year><Month>11</Month><Day>30</Day></DateRevised>
<Article PubModel="Print-Electronic"><Journal><ISSN IssnType="Print">1234-5678</ISSN>
<JournalIssue CitedMedium="Print"><Volume>12</Volume><Issue>3-4</Issue>
<PubDate><Year>2021</Year><Month>Feb</Month><Day>7</Day></PubDate></JournalIssue>
<Title>Journal of invented results</Title><ISOAbbreviation>J. Inv. Res.</ISOAbbreviation></Journal>
<ArticleTitle>[Uptake of CO<sub>2</sub> in
   <i>Planta ficta</i>: 10<sup>-3</sup> mol &amp; more].</ArticleTitle>
<Pagination><StartPage>332</StartPage><EndPage>340</EndPage><MedlinePgn>332-40</MedlinePgn></Pagination>
<ELocationID EIdType="doi" ValidYN="N">10.1/wrong</ELocationID>
<ELocationID EIdType="doi" ValidYN="Y">10.1/right</ELocationID>
<ELocationID EIdType="pii" ValidYN="Y">S-1</ELocationID>
<Abstract><AbstractText Label="AIM" NlmCategory="OBJECTIVE">We asked.</AbstractText>
<AbstractText NlmCategory="RESULTS">We   found <b>it</b>.</AbstractText>
<AbstractText Label="UNLABELLED" NlmCategory="UNASSIGNED">More.</AbstractText><AbstractText/>
<CopyrightInformation>Nobody, 2021.</CopyrightInformation></Abstract>
<AuthorList CompleteYN="N"><Author ValidYN="Y"><LastName>Ficta</LastName><ForeName>Anna Maria</ForeName>
<Initials>AM</Initials><Suffix>Jr</Suffix><Identifier Source="ORCID">https://orcid.org/000000021825009x</Identifier>
<AffiliationInfo><Affiliation>Nowhere &amp; Co.</Affiliation></AffiliationInfo>
<AffiliationInfo><Affiliation>Elsewhere.</Affiliation></AffiliationInfo></Author>
<Author ValidYN="N"><LastName>Fitca</LastName><Initials>AM</Initials></Author>
<Author><CollectiveName>The Invented Group</CollectiveName></Author></AuthorList>
<Language>ger</Language><Language>eng</Language>
<DataBankList><DataBank><DataBankName>ClinicalTrials.gov</DataBankName>
<AccessionNumberList><AccessionNumber>NCT00000000</AccessionNumber></AccessionNumberList></DataBank></DataBankList>
<GrantList><Grant><GrantID>G-1</GrantID><Agency>Agency of none</Agency><Country>Utopia</Country></Grant></GrantList>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>
<PublicationType UI="D016441">Retracted Publication</PublicationType></PublicationTypeList>
<VernacularTitle>Aufnahme von Kohlendioxid.</VernacularTitle>
<ArticleDate DateType="Electronic"><Year>2020</Year><Month>12</Month><Day>24</Day></ArticleDate></Article>
<MedlineJournalInfo><Country>Utopia</Country><MedlineTA>J Inv Res</MedlineTA><NlmUniqueID>0000001</NlmUniqueID>
<ISSNLinking>1234-567X</ISSNLinking></MedlineJournalInfo>
<ChemicalList><Chemical><RegistryNumber>142M471B3J</RegistryNumber>
<NameOfSubstance UI="D002245">Carbon Dioxide</NameOfSubstance></Chemical></ChemicalList>
<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>J Inv Res. 2022;1</RefSource>
<PMID Version="1">90000002</PMID></CommentsCorrections><CommentsCorrections RefType="Cites">
<RefSource>x</RefSource><PMID Version="1">90000007</PMID></CommentsCorrections></CommentsCorrectionsList>
<MeshHeadingList><MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">Plants</DescriptorName>
<QualifierName UI="Q1" MajorTopicYN="Y">metabolism</QualifierName></MeshHeading>
<MeshHeading><DescriptorName UI="D2" MajorTopicYN="Y">Air</DescriptorName></MeshHeading></MeshHeadingList>
<OtherAbstract Type="plain-language-summary" Language="eng"><AbstractText>In short.</AbstractText></OtherAbstract>
<KeywordList Owner="NOTNLM"><Keyword MajorTopicYN="N">leaf</Keyword><Keyword>air</Keyword></KeywordList>
<CoiStatement>None.</CoiStatement>
<InvestigatorList><Investigator><LastName>Group</LastName><Initials>M</Initials></Investigator></InvestigatorList>
</MedlineCitation><PubmedData><History>
<PubMedPubDate PubStatus="received"><Year>2020</Year><Month>1</Month><Day>2</Day></PubMedPubDate>
<PubMedPubDate PubStatus="entrez"><Year>2020</Year><Month>12</Month><Day>25</Day><Hour>6</Hour></PubMedPubDate>
</History>
<PublicationStatus>ppublish</PublicationStatus><ArticleIdList><ArticleId IdType="pubmed">90000001</ArticleId>
<ArticleId IdType="pmc">PMC9000001</ArticleId><ArticleId IdType="doi">10.1/right</ArticleId></ArticleIdList>
<ReferenceList><Reference><Citation>One.</Citation><ArticleIdList><ArticleId IdType="pubmed">90000008</ArticleId>
<ArticleId IdType="doi">10.1/cited</ArticleId></ArticleIdList></Reference><ReferenceList><Reference>
<Citation>Two.</Citation><ArticleIdList><ArticleId IdType="pubmed">90000007</ArticleId></ArticleIdList></Reference>
</ReferenceList></ReferenceList></PubmedData></PubmedArticle>"""

CHAPTER = b"""<PubmedBookArticle><BookDocument><PMID Version="1">90000009</PMID>
<ArticleIdList><ArticleId IdType="bookaccession">NBK0</ArticleId></ArticleIdList>
<Book><Publisher><PublisherName>No Press</PublisherName><PublisherLocation>Nowhere</PublisherLocation></Publisher>
<BookTitle book="b">The book of none</BookTitle><PubDate><Year>1999</Year></PubDate>
<AuthorList Type="editors"><Author><LastName>Editor</LastName><Initials>E</Initials></Author></AuthorList>
<Isbn>9780000000000</Isbn><Medium>Internet</Medium></Book>
<ArticleTitle book="b" part="c">A chapter</ArticleTitle><Language>eng</Language>
<AuthorList Type="authors"><Author><LastName>Writer</LastName><Initials>W</Initials></Author></AuthorList>
<PublicationType UI="D016454">Review</PublicationType><Abstract><AbstractText>About it.</AbstractText></Abstract>
<Sections><Section><LocationLabel>1</LocationLabel><SectionTitle>Signs</SectionTitle>
<Section><SectionTitle>Early</SectionTitle></Section></Section></Sections>
<ContributionDate><Year>2001</Year><Month>2</Month><Day>3</Day></ContributionDate></BookDocument>
<PubmedBookData><PublicationStatus>ppublish</PublicationStatus></PubmedBookData></PubmedBookArticle>"""

DELETED = b'<DeleteCitation><PMID Version="1">90000003</PMID>\n<PMID Version="1">90000004</PMID></DeleteCitation>'


def article(pmid: int | str, abstract: str = "Text.", title: str = "Title.", date: str = "<Year>2001</Year>") -> bytes:
    """A short record."""
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID>\n<Article><Journal><JournalIssue>'
        f"<PubDate>{date}</PubDate></JournalIssue></Journal><ArticleTitle>{title}</ArticleTitle>\n"
        f"<Abstract><AbstractText>{abstract}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>\n"
    ).encode()


def file_of(*records: bytes) -> bytes:
    """A file of records."""
    return HEAD + b"\n".join(records) + TAIL
