"""The method of the 2016 paper (Alayrac et al., CVPR 2016), to be read beside it.

======================================================  ==========================================
the paper                                               here
======================================================  ==========================================
Section 4.1: relations, D, the match of two relations   :mod:`howsteps.narration`, :mod:`.script`
equation (1); Appendix B.1: U, B, Y, C_o, Tr(UᵀBU)      :mod:`.alignment_problem`
Appendix B.2: Frank-Wolfe, oracle, rounding             :mod:`.alignment_problem`
Appendix B.2: POA and Clustal                           :mod:`.aligners`
Section 4.1: the K steps of the script                  :mod:`.script`
Section 4.2: Δb and Δa; AZ ≥ R                          :mod:`.windows`; :mod:`.clustering_problem`
equations (2), (3): h(Z) under both constraints         :mod:`.clustering_problem`
Appendix C.1: W*(Z), B, Tr(ZZᵀB)                        :mod:`.clustering_problem`,
                                                        :mod:`howsteps.localise.ridge`
Appendix C.2: Frank-Wolfe, rounding by W*               :mod:`.clustering_solvers`
Appendix C.2: the linear oracle, Tr(CᵀZ)                :mod:`howsteps.localise.order`
Section 4.2 as a whole; for a task                      :mod:`.clustering`; :mod:`.localise`
Section 5: motion and appearance as codewords           :mod:`.visual_words`, :mod:`.motion`,
                                                        :mod:`.vgg16`
Section 5.2: baselines; Appendix D.1: supervised        :mod:`.methods`
Appendix D.2: error bars                                ``roundings`` in :mod:`.localise`
tables of results beside the printed ones               :mod:`.tables`
the authors' program, where it differs                  ``AUTHORS`` in :mod:`.alignment`,
                                                        ``OPTIONS`` in :mod:`.script`, ``authors``
                                                        in :mod:`.clustering`
not in the paper: better solvers, a bound               :mod:`.alignment_search`,
                                                        ``pair_bound`` in :mod:`.alignment`;
                                                        descent in :mod:`.clustering_solvers`
======================================================  ==========================================
"""
